package main

import (
	"crypto/sha256"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// unit returns the processor time of a fixed loop, which does what tests do most: it allocates,
// hashes, sorts and looks up. It runs on all processors, as the tests do.
func unit() time.Duration {
	before := processorTime()
	workers := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	for range workers {
		all.Go(loop)
	}
	all.Wait()
	return (processorTime() - before) / time.Duration(workers)
}

// loop takes about a second of processor time on a machine of 2024.
func loop() {
	for range 8 {
		names := map[string]int{}
		list := make([]string, 0, 1<<17)
		for i := range 1 << 17 {
			name := strconv.Itoa(i * 7919)
			names[name] = i
			list = append(list, name)
		}
		slices.Sort(list)
		sum := sha256.New()
		for _, name := range list {
			sum.Write([]byte(name + strconv.Itoa(names[name])))
		}
		sum.Sum(nil)
	}
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
