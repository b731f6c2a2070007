package web

import (
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/reference"
)

// Documents holds what an audience's documents say, by line: they depend on the
// program only, so all services of a process share them. The zero value is empty. Its
// methods may be called from many goroutines.
type Documents struct {
	mutex  sync.Mutex
	byLine map[shop.Line]*document
}

// document is the description of one line's interface. The first service that registers
// its operations computes the schemas; the services after it only read them.
type document struct {
	mutex    sync.Mutex // held while operations are registered
	schemas  huma.Registry
	finished bool // the schemas are all there and do not change any more

	machine lazy[rendering]
	people  lazy[*reference.Reference]
}

// of returns the document of a line.
func (d *Documents) of(l shop.Line) *document {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.byLine[l] == nil {
		if d.byLine == nil {
			d.byLine = map[shop.Line]*document{}
		}
		d.byLine[l] = &document{schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)}
	}
	return d.byLine[l]
}

// complete finishes the schemas once the first service has registered its operations.
func (d *document) complete() {
	if d.finished {
		return
	}
	allowNulls(d.schemas)
	showNumbers(d.schemas)
	d.finished = true
}

// lazy is a value that is made when it is first asked for.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) from(make func() T) T {
	l.once.Do(func() { l.value = make() })
	return l.value
}

// rendering is a document as it is sent.
type rendering struct {
	body []byte
	err  error
}
