//go:build linux || darwin

package doctor

import "syscall"

// freeBytes returns what a user without privileges can still write to the disk of a folder.
func freeBytes(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // a block has a positive size
}
