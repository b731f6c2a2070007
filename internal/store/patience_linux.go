package store

import (
	"syscall"
	"time"
)

// tcpUserTimeout is Linux's TCP_USER_TIMEOUT, which package syscall does not name.
const tcpUserTimeout = 0x12

// giveUpUnsent ends a connection on which what was sent is not taken for so long.
// Keepalives are not sent meanwhile.
func giveUpUnsent(c syscall.RawConn, after time.Duration) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(after.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
