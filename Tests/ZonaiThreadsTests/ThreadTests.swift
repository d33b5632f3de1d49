import Synchronization
import Testing
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

private func blockedSignals() -> [Int32] {
  var mask = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &mask)
  return [SIGTERM, SIGINT, SIGPIPE].filter { sigismember(&mask, $0) == 1 }
}

@Suite struct ThreadTests {
  @Test func `joining waits for the body, and a second join returns at once`() throws {
    let done = Atomic<Bool>(false)
    let gate = Signal()
    let thread = try NamedThread(name: "a name longer than fifteen bytes") {
      _ = gate.wait()
      done.store(true, ordering: .releasing)
    }
    gate.raise()
    thread.join()
    let isDone = done.load(ordering: .acquiring)
    #expect(isDone)
    thread.join()
  }

  @Test func `it takes no signals, so a closed socket ends no process`() throws {
    let before = blockedSignals()
    let blocked = Mutex<[Int32]>([])
    let thread = try NamedThread(name: "test-signals") {
      let signals = blockedSignals()
      blocked.withLock { $0 = signals }
    }
    thread.join()
    let seen = blocked.withLock { $0 }
    #expect(seen == [SIGTERM, SIGINT, SIGPIPE])
    #expect(blockedSignals() == before)
  }

  @Test func `a signal raised before the wait is not lost, and wakes once`() {
    let signal = Signal()
    signal.raise()
    signal.raise()
    #expect(signal.wait())
    #expect(!signal.wait(until: MonotonicClock.milliseconds() - 1))
  }

  #if os(Linux)
    @Test func `the clock of leases is the one that goes on while the machine sleeps`() {
      func milliseconds() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
      }
      let before = milliseconds()
      let now = MonotonicClock.milliseconds()
      #expect((before...milliseconds()).contains(now))
    }
  #endif

  @Test func `a wait ends at its deadline`() {
    let start = MonotonicClock.milliseconds()
    #expect(!Signal().wait(until: start + 20))
    #expect(MonotonicClock.milliseconds() >= start + 20)
  }

  @Test func `a monitor hands over what another thread put in`() throws {
    let box = Monitor<[Int]>([])
    let thread = try NamedThread(name: "test-monitor") {
      for number in 0..<1000 { box.change { $0.append(number) } }
    }
    var seen: [Int] = []
    while seen.count < 1000 {
      seen +=
        box.wait { values in
          defer { values = [] }
          return values.isEmpty ? nil : values
        } ?? []
    }
    thread.join()
    #expect(seen == Array(0..<1000))
  }

  @Test func `no wake is lost between drains`() throws {
    let pipe = try WakePipe()
    let queued = Atomic<Int>(0)
    let thread = try NamedThread(name: "test-waker") {
      for _ in 0..<100_000 {
        _ = queued.add(1, ordering: .releasing)
        pipe.wake()
      }
    }
    var taken = 0
    while taken < 100_000 {
      var entry = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
      // A lost wake shows as a poll that times out while something is queued.
      #expect(poll(&entry, 1, 10_000) == 1)
      pipe.drain()
      taken += queued.exchange(0, ordering: .acquiringAndReleasing)
    }
    thread.join()
  }

  @Test func `many wakes before a drain are one byte`() throws {
    let pipe = try WakePipe()
    for _ in 0..<100 { pipe.wake() }
    pipe.drain()
    var entry = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 0) == 0)
    pipe.wake()
    #expect(poll(&entry, 1, 0) == 1)
  }
}
