import Testing
import ZonaiCore

@Suite struct LooksTests {
  private let anna = WorkerID(rawValue: "anna")
  private let berta = WorkerID(rawValue: "berta")

  @Test func `a wait begins when nothing was changed since anybody's look`() {
    var looks = Looks()
    var answers = [looks.areBehind(3)]
    looks.note(anna, seen: 3)
    looks.note(berta, seen: 3)
    answers.append(looks.areBehind(3))
    looks.note(anna, seen: 4)
    answers.append(looks.areBehind(4))
    looks.forget(berta)
    answers.append(looks.areBehind(4))
    #expect(answers == [false, false, true, false])
  }

  @Test func `a worker that never waits does not keep the others awake for ever`() {
    var looks = Looks()
    looks.note(berta, seen: 1)
    var alarms = 0
    while looks.areBehind(2), alarms < 1000 {
      alarms += 1
      looks.note(anna, seen: 2)
    }
    #expect(alarms > 1)
    #expect(alarms < 100)
  }
}
