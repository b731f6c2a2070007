package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc: Linux has a hundred to the second on
// every machine that Go runs on.
const clockTick = 10 * time.Millisecond

// Fields of /proc/PID/stat, counted from behind the name of the program.
const (
	fieldParent      = 1
	fieldUser        = 11
	fieldSystem      = 12
	fieldEndedUser   = 13 // of children that have ended
	fieldEndedSystem = 14
	fieldRSS         = 21
)

// usageOf reads what a process has used.
func usageOf(pid int) (usage, error) {
	n, err := statOf(pid)
	if err != nil {
		return usage{}, err
	}
	return usage{cpu: time.Duration(n[fieldUser]+n[fieldSystem]) * clockTick, rss: n[fieldRSS] * int64(os.Getpagesize())}, nil
}

// familyCPU reads what a process and its children have used, also those that have
// ended.
func familyCPU(pid int) (time.Duration, error) {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	var ticks int64
	for _, entry := range all {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // no process
		}
		n, err := statOf(child)
		switch {
		case err != nil && child != pid: // it has just ended
		case err != nil:
			return 0, err
		case child == pid:
			ticks += n[fieldUser] + n[fieldSystem] + n[fieldEndedUser] + n[fieldEndedSystem]
		case n[fieldParent] == int64(pid):
			ticks += n[fieldUser] + n[fieldSystem]
		}
	}
	return time.Duration(ticks) * clockTick, nil
}

// statOf reads the named fields of /proc/PID/stat, each at its place.
func statOf(pid int) ([]int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) <= fieldRSS {
		return nil, fmt.Errorf("/proc/%d/stat cannot be read: %q", pid, text)
	}
	numbers := make([]int64, fieldRSS+1)
	for _, i := range []int{fieldParent, fieldUser, fieldSystem, fieldEndedUser, fieldEndedSystem, fieldRSS} {
		if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return nil, fmt.Errorf("/proc/%d/stat cannot be read: %w", pid, err)
		}
	}
	return numbers, nil
}
