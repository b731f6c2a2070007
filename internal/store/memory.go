package store

import "sync"

// memory keeps what was made of rows for as long as their version is the one at which
// it was made. The zero value is empty.
type memory[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]remembered[V]
}

type remembered[V any] struct {
	version int64
	value   V
}

func (m *memory[K, V]) get(key K, version int64) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.known[key]
	return k.value, ok && k.version == version
}

// put remembers a value. When there are most of them, all are forgotten first:
// whatever is asked for again is soon known again.
func (m *memory[K, V]) put(key K, version int64, value V, most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= most {
		m.known = make(map[K]remembered[V])
	}
	m.known[key] = remembered[V]{version, value}
}
