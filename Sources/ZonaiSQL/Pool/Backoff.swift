/// How long to pause before another try: doubled each time, half of it by chance, so that those who failed together do
/// not come back together.
struct Backoff {
  let first: Int64
  let longest: Int64
  private(set) var tries = 0

  init(first: Int64, longest: Int64) {
    self.first = first
    self.longest = longest
  }

  mutating func next() -> Int64 {
    let pause = min(first << Int64(min(tries, 20)), longest)
    tries += 1
    return pause / 2 + Int64.random(in: 0...(pause - pause / 2))
  }
}
