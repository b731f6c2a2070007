package sandbox

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// journal keeps what was caught, one JSON object a line of its file. What it has taken is in the file.
type journal[T any] struct {
	path string

	mu   sync.Mutex
	list []T
}

// reload reads the file again. A line that a killed process left unfinished was never taken, and is
// dropped.
func (j *journal[T]) reload() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = nil
	text, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole < len(text) {
		if err := os.Truncate(j.path, int64(whole)); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(text[:whole]))
	lines.Buffer(nil, 2*maxMail)
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return fmt.Errorf("read %s: %w", j.path, err)
		}
		j.list = append(j.list, one)
	}
	return lines.Err()
}

// add takes items.
func (j *journal[T]) add(items ...T) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for _, one := range items {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		j.list = append(j.list, items...)
	}
	return err
}

// all returns what was taken, oldest first.
func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

func (j *journal[T]) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.list)
}

// saveTo copies what was taken into a file.
func (j *journal[T]) saveTo(path string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, err := os.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// loadFrom takes a file of saveTo in its place. A snapshot that has none is older than the journal.
func (j *journal[T]) loadFrom(path string) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := j.path + ".restored"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(fresh, j.path); err != nil {
		return err
	}
	return j.reload()
}
