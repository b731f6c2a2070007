//go:build !linux

package store

import (
	"syscall"
	"time"
)

// giveUpUnsent does nothing: this system has no such setting, and statements are
// given up all the same.
func giveUpUnsent(syscall.RawConn, time.Duration) error { return nil }
