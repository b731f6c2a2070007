//go:build unix

package sandbox

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// lock keeps a second sandbox out of the folder. It ends with the process,
// however that ends.
func (h home) lock() (io.Closer, error) {
	f, err := os.OpenFile(h.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another sandbox runs on %s: %w", h.dir, err)
	}
	return f, nil
}
