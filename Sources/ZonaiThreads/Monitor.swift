#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A value behind a lock on which threads can also wait, with a deadline.
///
/// For threads of our own. A task must not wait here: it would hold a thread of the cooperative pool.
///
/// @unchecked: the value is only touched while the mutex beneath is held.
public final class Monitor<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    let locked = pthread_mutex_init(mutex, nil)
    precondition(locked == 0, "a default mutex can be made")
    #if canImport(Darwin)
      let made = pthread_cond_init(condition, nil)
    #else
      // A deadline on the wall clock would move with it.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      let made = pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
    precondition(made == 0, "a condition on the monotonic clock can be made")
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Looks at or changes the value without waking anybody.
  public func withLock<Result>(_ body: (inout Value) throws -> sending Result) rethrows -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Changes the value and lets everybody who waits look again.
  public func change<Result>(_ body: (inout Value) throws -> sending Result) rethrows -> sending Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(condition)
      pthread_mutex_unlock(mutex)
    }
    return try body(&value)
  }

  /// Blocks until `body` gives something, looking again after each change; nil when the deadline passed first.
  ///
  /// The deadline is in milliseconds of `MonotonicClock`; without one it waits for as long as it takes.
  public func wait<Result>(until deadline: Int64? = nil, _ body: (inout Value) -> sending Result?) -> sending Result? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      let left = deadline - MonotonicClock.milliseconds()
      if left <= 0 { return nil }
      pause(milliseconds: left)
    }
  }

  private func pause(milliseconds left: Int64) {
    #if canImport(Darwin)
      var span = timespec(tv_sec: Int(left / 1000), tv_nsec: Int(left % 1000) * 1_000_000)
      pthread_cond_timedwait_relative_np(condition, mutex, &span)
    #else
      // Reckoned anew: POSIX threads know no clock that goes on while the machine sleeps.
      let deadline = WaitingClock.milliseconds() + left
      var moment = timespec()
      moment.tv_sec = time_t(deadline / 1000)
      moment.tv_nsec = Int(deadline % 1000) * 1_000_000
      pthread_cond_timedwait(condition, mutex, &moment)
    #endif
  }
}
