package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lookEvery is the time between two looks at the processes. What a process does after the last look
// at it is not counted for its package, only for its step.
const lookEvery = 100 * time.Millisecond

// Names of what is measured beside the packages of tests.
const (
	compiling = "(compiler)"
	linking   = "(linker)"
	database  = "(PostgreSQL)"
	others    = "(other programs)"
)

// usage is what a package of tests, or another kind of program, has used.
type usage struct {
	processor time.Duration
	memory    int64 // bytes that its largest process has held at once
}

// watch looks at a process and its descendants, by Linux's /proc. On other systems it finds none.
type watch struct {
	root    int
	stop    chan struct{}
	stopped sync.WaitGroup
	known   map[process]*seen
}

// process is a process of this machine. A number may come again, with another start.
type process struct {
	id    int
	start string
}

// seen is what was seen of a process last.
type seen struct {
	kind string
	used usage
}

func watchProcesses(root int) *watch {
	w := &watch{root: root, stop: make(chan struct{}), known: map[process]*seen{}}
	w.stopped.Go(func() {
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		for {
			w.look()
			select {
			case <-w.stop:
				return
			case <-ticks.C:
			}
		}
	})
	return w
}

// end returns what was used, by the folder of a package of tests or by one of the names above.
func (w *watch) end() map[string]usage {
	close(w.stop)
	w.stopped.Wait()
	sums := map[string]usage{}
	for _, s := range w.known {
		sum := sums[s.kind]
		sum.processor += s.used.processor
		sum.memory = max(sum.memory, s.used.memory)
		sums[s.kind] = sum
	}
	return sums
}

// stat is a line of /proc.
type stat struct {
	process

	parent    int
	processor time.Duration
}

// look notes what the descendants have used up to now.
func (w *watch) look() {
	stats := map[int]stat{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		if s, is := readStat(folder); is {
			stats[s.id] = s
		}
	}
	for _, s := range stats {
		if one := w.of(s, stats); one != nil {
			one.used = usage{max(one.used.processor, s.processor), max(one.used.memory, peak(s.id, one.kind))}
		}
	}
}

// of returns what is known of a process; nil when it is not a descendant. One whose parent has ended
// stays what it was.
func (w *watch) of(s stat, stats map[int]stat) *seen {
	if one, is := w.known[s.process]; is {
		if one.kind == others { // a process becomes another program after it has begun
			one.kind = kindOf(s.id)
		}
		return one
	}
	kind := others
	if s.id != w.root {
		parent, is := stats[s.parent]
		if !is {
			return nil
		}
		above := w.of(parent, stats)
		if above == nil {
			return nil
		}
		kind = above.kind // what a test starts belongs to its package
	}
	if kind == others {
		kind = kindOf(s.id)
	}
	one := &seen{kind: kind}
	w.known[s.process] = one
	return one
}

// kindOf returns what program a process runs.
func kindOf(id int) string {
	folder := filepath.Join("/proc", strconv.Itoa(id))
	program, _ := os.Readlink(filepath.Join(folder, "exe"))
	switch name := filepath.Base(program); {
	case strings.HasSuffix(name, ".test"):
		if at, err := os.Readlink(filepath.Join(folder, "cwd")); err == nil {
			return at
		}
	case name == "link":
		return linking
	case name == "compile" || name == "asm" || name == "cgo" || name == "vet" || strings.HasPrefix(name, "cc1"):
		return compiling
	case name == "postgres":
		return database
	}
	return others
}

// tick is the unit of processor time in /proc.
const tick = time.Second / 100

// readStat reads /proc/N/stat: the number, the name in brackets, and 50 fields.
func readStat(folder string) (stat, bool) {
	text, err := os.ReadFile(filepath.Join(folder, "stat")) //nolint:gosec // Linux's own
	if err != nil {
		return stat{}, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const parent, user, system, start = 1, 11, 12, 19
	if len(fields) <= start {
		return stat{}, false
	}
	numbers := make([]int64, 0, 4)
	for _, f := range []string{filepath.Base(folder), fields[parent], fields[user], fields[system]} {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return stat{}, false
		}
		numbers = append(numbers, n)
	}
	return stat{process{int(numbers[0]), fields[start]}, int(numbers[1]), time.Duration(numbers[2]+numbers[3]) * tick}, true
}

// peak returns the most memory that a process of a package has held, in bytes. Of others it is not asked.
func peak(id int, kind string) int64 {
	if strings.HasPrefix(kind, "(") {
		return 0
	}
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "status"))
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, _ := strconv.ParseInt(cmp.Or(append(strings.Fields(after), "0")[0], "0"), 10, 64)
	return kilobytes << 10
}
