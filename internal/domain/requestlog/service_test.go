package requestlog

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// memory is a Store that keeps entries in a slice.
type memory struct {
	Store

	mu      sync.Mutex
	batches [][]Entry
	failing error
	hold    chan struct{} // writing waits until it is closed; nil: it does not
}

func (m *memory) AddRequests(ctx context.Context, _ shop.ID, list []Entry) error {
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failing != nil {
		return m.failing
	}
	m.batches = append(m.batches, slices.Clone(list))
	return nil
}

func service(m *memory, dropped *int) *Service {
	return &Service{Store: m, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler), Dropped: func(n int) { *dropped += n }}
}

func TestRequestsAreWrittenInOneBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, dropped := &memory{}, 0
		s := service(m, &dropped)
		for range 40 {
			s.Add(7, Entry{Path: "/x"})
		}
		time.Sleep(2 * gather)
		synctest.Wait()
		if len(m.batches) != 1 || len(m.batches[0]) != 40 || dropped != 0 {
			t.Fatalf("%d batches, %d dropped", len(m.batches), dropped)
		}
		s.Add(7, Entry{Path: "/y"})
		s.Wait()
		if len(m.batches) != 2 || m.batches[1][0].Path != "/y" {
			t.Errorf("what waits when the process ends is not written: %v", m.batches[1:])
		}
		seen := map[int64]bool{}
		for _, b := range m.batches {
			for _, e := range b {
				if seen[e.ID] {
					t.Errorf("id %d is given twice", e.ID)
				}
				seen[e.ID] = true
			}
		}
	})
}

func TestRequestNeverWaitsForTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, dropped := &memory{hold: make(chan struct{})}, 0
		s := service(m, &dropped)
		s.Add(7, Entry{})
		time.Sleep(2 * gather) // now the store holds the first one
		synctest.Wait()
		for range mostPending + 5 {
			s.Add(7, Entry{})
		}
		if dropped != 5 {
			t.Errorf("%d requests are counted as dropped, want 5", dropped)
		}
		close(m.hold)
		s.Wait()
		n := 0
		for _, b := range m.batches {
			n += len(b)
		}
		if n != mostPending+1 {
			t.Errorf("%d requests are written, want %d", n, mostPending+1)
		}
	})
}

func TestRequestsThatCannotBeWrittenAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, dropped := &memory{failing: errors.New("full")}, 0
		s := service(m, &dropped)
		s.Add(7, Entry{})
		s.Add(8, Entry{})
		s.Wait()
		if dropped != 2 {
			t.Errorf("%d requests are counted as dropped, want 2", dropped)
		}
	})
}

func TestEntryKeepsNamesOfParametersOnly(t *testing.T) {
	t.Parallel()
	e := Entry{
		Path:       "/" + strings.Repeat("ä", 200),
		Parameters: []string{"status", "ana@example.com", "customerId.equals", strings.Repeat("x", 41), "", "<b>", "1st"},
	}.trimmed()
	if want := []string{"customerId.equals", "status"}; !slices.Equal(e.Parameters, want) {
		t.Errorf("parameters %q, want %q", e.Parameters, want)
	}
	if len(e.Path) > maxPath+len("…") || strings.ToValidUTF8(e.Path, "?") != e.Path {
		t.Errorf("the path has %d bytes: %q", len(e.Path), e.Path)
	}
	if many := (Entry{Parameters: slices.Repeat([]string{"a"}, 50)}).trimmed(); len(many.Parameters) != maxParameters {
		t.Errorf("%d parameters are kept", len(many.Parameters))
	}
}
