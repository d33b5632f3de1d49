// The core: words, verdicts, evidence, the life of a batch and of a job, and the engine that drives them.
