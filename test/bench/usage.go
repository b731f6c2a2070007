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
	fieldUser   = 11
	fieldSystem = 12
	fieldRSS    = 21
)

// usageOf reads what a process has used.
func usageOf(pid int) (usage, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) <= fieldRSS {
		return usage{}, fmt.Errorf("/proc/%d/stat cannot be read: %q", pid, text)
	}
	number := func(i int) int64 {
		n, parseErr := strconv.ParseInt(fields[i], 10, 64)
		if parseErr != nil {
			err = parseErr
		}
		return n
	}
	u := usage{
		cpu: time.Duration(number(fieldUser)+number(fieldSystem)) * clockTick,
		rss: number(fieldRSS) * int64(os.Getpagesize()),
	}
	return u, err
}
