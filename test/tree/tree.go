// Package tree copies a checkout to a place that is the same for every checkout of the
// machine. Go's test cache and golangci-lint keep the paths and the times of the files that
// they have read: in the copy a fresh checkout of the same commit has both, so that what has
// passed once need not run again.
package tree

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// retry is the time between two attempts to lock the copy.
const retry = 100 * time.Millisecond

// Copy brings the copy of a kind (lint, test) up to date with the folder from and returns its
// path. Until release is called, other checkouts wait for their turn.
func Copy(ctx context.Context, kind, from string) (to string, release io.Closer, err error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", nil, fmt.Errorf("find a place for the copy: %w", err)
	}
	dir := filepath.Join(caches, "perennial", kind)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, retry); err != nil {
		return "", nil, fmt.Errorf("wait for another checkout: %w", err)
	}
	to = filepath.Join(dir, "source")
	if err := mirror(from, to); err != nil {
		return "", nil, errors.Join(fmt.Errorf("copy this folder: %w", err), lock.Close())
	}
	return to, lock, nil
}

// skipped reports whether a path of the checkout holds no source.
func skipped(path string) bool {
	switch path {
	case ".git", "bin", "dist":
		return true
	}
	return false
}

// folderTime is the time of change of every folder of a copy.
var folderTime = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)

// mirror makes one folder like another, and sets the times of its files and folders.
func mirror(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if err := prune(from, to); err != nil {
		return err
	}
	var folders []string
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir() && skipped(rel):
			return fs.SkipDir
		case d.IsDir():
			folders = append(folders, target)
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return same(path, target, info.Mode()&0o100 != 0)
	})
	for _, folder := range folders {
		err = errors.Join(err, os.Chtimes(folder, folderTime, folderTime))
	}
	return err
}

// same gives one file the content of another, and a time of change that follows from it.
func same(from, to string, executable bool) error {
	text, err := os.ReadFile(from) //nolint:gosec // a file of the checkout
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if executable {
		mode = 0o700
	}
	if is, err := os.ReadFile(to); err != nil || string(is) != string(text) { //nolint:gosec // its copy
		if err := os.WriteFile(to, text, mode); err != nil {
			return err
		}
	}
	at := timeOf(text)
	return errors.Join(os.Chmod(to, mode), os.Chtimes(to, at, at))
}

// timeOf returns a time of change for a content: the same for the same content, and almost
// certainly another one for another content, since Go compares times and sizes alone.
func timeOf(text []byte) time.Time {
	sum := sha256.Sum256(text)
	const twentyYears = 20 * 365 * 24 * 60 * 60 // seconds
	return folderTime.Add(time.Duration(binary.BigEndian.Uint64(sum[:])%twentyYears) * time.Second)
}

// prune removes from the copy what the folder does not have.
func prune(from, to string) error {
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(to, path)
		if err != nil {
			return err
		}
		is, err := os.Lstat(filepath.Join(from, rel))
		switch {
		case err == nil && is.IsDir() == d.IsDir() && !(d.IsDir() && skipped(rel)):
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
