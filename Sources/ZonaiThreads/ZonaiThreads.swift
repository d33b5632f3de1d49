// Threads, executors and clocks: what lets a blocking C call run somewhere other than the cooperative pool.
