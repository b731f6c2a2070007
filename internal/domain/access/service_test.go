package access

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// memory is a Store that keeps keys in a slice.
type memory struct {
	mu      sync.Mutex
	keys    []Key
	lookups int
	touches int
	failing error
	hold    chan struct{} // touching waits until it is closed
	entries []activity.Entry
}

func (m *memory) Update(_ context.Context, of shop.ID, fn func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn(&memoryTx{m, of})
}

func (m *memory) View(ctx context.Context, of shop.ID, fn func(ReadTx) error) error {
	return m.Update(ctx, of, func(tx Tx) error { return fn(tx) })
}

func (m *memory) KeyByHash(_ context.Context, h Hash) (Key, shop.Shop, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups++
	if m.failing != nil {
		return Key{}, shop.Shop{}, m.failing
	}
	for _, k := range m.keys {
		if k.Hash == h {
			return k, shop.Shop{ID: k.Shop}, nil
		}
	}
	return Key{}, shop.Shop{}, fault.New(fault.NotFound, "no such key")
}

func (m *memory) KnownHash(ctx context.Context, h Hash) (bool, error) {
	_, _, err := m.KeyByHash(ctx, h)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

func (m *memory) TouchKey(ctx context.Context, of shop.ID, key KeyID, at time.Time, from string) error {
	if m.hold != nil {
		<-m.hold
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touches++
	for i, k := range m.keys {
		if k.ID == key && k.Shop == of {
			m.keys[i].LastUsedAt, m.keys[i].LastUsedFrom = at, from
		}
	}
	return nil
}

func (tx *memoryTx) Record(_ context.Context, entries ...activity.Entry) error {
	tx.entries = append(tx.entries, entries...)
	return nil
}

type memoryTx struct {
	*memory
	of shop.ID
}

func (tx *memoryTx) LockKeys(context.Context) error { return nil }

func (tx *memoryTx) Keys(context.Context) ([]Key, error) {
	var own []Key
	for _, k := range tx.keys {
		if k.Shop == tx.of {
			own = append(own, k)
		}
	}
	return own, nil
}

func (tx *memoryTx) PutKey(_ context.Context, k *Key) error {
	if k.ID == 0 {
		k.ID = KeyID(len(tx.keys) + 1)
		tx.keys = append(tx.keys, *k)
		return nil
	}
	for i := range tx.keys {
		if tx.keys[i].ID == k.ID {
			tx.keys[i] = *k
		}
	}
	return nil
}

func start(t *testing.T) (*Service, *memory, *clock.Manual) {
	t.Helper()
	m, at := &memory{}, clock.NewManual(time.Date(2025, 1, 31, 12, 0, 0, 0, time.UTC))
	s := &Service{Store: m, Clock: at, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	t.Cleanup(s.Wait)
	return s, m, at
}

func create(t *testing.T, s *Service, of shop.ID) (string, Key) {
	t.Helper()
	value, key, err := s.Create(t.Context(), of, NewKey{Name: "ERP"})
	if err != nil {
		t.Fatal(err)
	}
	return value, key
}

func TestKeyWorksUntilRevoked(t *testing.T) {
	t.Parallel()
	s, m, at := start(t)
	value, key := create(t, s, 7)
	other, _ := create(t, s, 7)
	caller, err := s.Authenticate(t.Context(), value, "203.0.113.7")
	if err != nil || caller.Shop.ID != 7 || caller.Key.ID != key.ID || !caller.Key.Allows(BillingCharge) {
		t.Fatalf("caller %+v, %v", caller, err)
	}
	if err := s.Revoke(t.Context(), 7, key.ID, activity.System); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Authenticate(t.Context(), value, "203.0.113.7"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a revoked key: %v", err)
	}
	if _, err := s.Authenticate(t.Context(), other, "203.0.113.7"); err != nil {
		t.Errorf("another key: %v", err)
	}
	s.Wait()
	revoked := m.keys[0].RevokedAt
	at.Set(at.Now().Add(time.Hour))
	if err := s.Revoke(t.Context(), 7, key.ID, activity.System); err != nil || !m.keys[0].RevokedAt.Equal(revoked) {
		t.Errorf("revoked again: %v at %v", err, m.keys[0].RevokedAt)
	}
	if err := s.Revoke(t.Context(), 8, key.ID, activity.System); !fault.Is(err, fault.NotFound) {
		t.Errorf("another shop's key: %v", err)
	}
}

func TestKeyValueIsNotStored(t *testing.T) {
	t.Parallel()
	s, m, _ := start(t)
	value, key := create(t, s, 7)
	if key.Hash != HashOf(value) || !strings.HasPrefix(value, key.Hint) || len(key.Hint) >= len(value)/2 {
		t.Errorf("value %q, key %+v", value, key)
	}
	if m.keys[0].Hash != key.Hash || m.keys[0].CreatedAt.IsZero() {
		t.Errorf("kept %+v", m.keys[0])
	}
	list, err := s.List(t.Context(), 7)
	if err != nil || len(list) != 1 || list[0].Name != "ERP" {
		t.Errorf("list %+v, %v", list, err)
	}
}

func TestEleventhActiveKeyFails(t *testing.T) {
	t.Parallel()
	s, _, _ := start(t)
	var last Key
	for range MaxKeys {
		_, last = create(t, s, 7)
	}
	_, _, err := s.Create(t.Context(), 7, NewKey{Name: "eleventh"})
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.FailedPrecondition || f.ErrorKey != "tooManyKeys" {
		t.Fatalf("the eleventh: %v", err)
	}
	create(t, s, 8)
	if err := s.Revoke(t.Context(), 7, last.ID, activity.System); err != nil {
		t.Fatal(err)
	}
	create(t, s, 7)
}

func TestTenActiveKeysCanEachBeRotatedOnce(t *testing.T) {
	t.Parallel()
	s, _, _ := start(t)
	var keys []Key
	for range MaxKeys {
		_, k := create(t, s, 7)
		keys = append(keys, k)
	}
	grace := time.Hour
	if _, _, err := s.Rotate(t.Context(), 7, Rotation{Key: keys[0].ID, Grace: &grace}); err != nil {
		t.Fatalf("the first rotation of ten keys: %v", err)
	}
	for name, of := range map[string]KeyID{"the same key again": keys[0].ID, "another one, beside": keys[1].ID} {
		if _, _, err := s.Rotate(t.Context(), 7, Rotation{Key: of}); !fault.Is(err, fault.FailedPrecondition) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := s.Create(t.Context(), 7, NewKey{Name: "one more"}); !fault.Is(err, fault.FailedPrecondition) {
		t.Errorf("one more: %v", err)
	}
}

func TestCreateRejectsInvalidKey(t *testing.T) {
	t.Parallel()
	s, m, _ := start(t)
	for name, test := range map[string]struct {
		name   string
		scopes []Scope
	}{
		"a key without a name":         {" ", nil},
		"a key whose name is too long": {strings.Repeat("é", MaxName+1), nil},
		"a key with an unknown scope":  {"ERP", []Scope{ContractsRead, "moon:read"}},
	} {
		if _, _, err := s.Create(t.Context(), 7, NewKey{Name: test.name, Scopes: test.scopes}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(m.keys) != 0 {
		t.Errorf("made %+v", m.keys)
	}
}

func TestMalformedKeyIsNotLookedUp(t *testing.T) {
	t.Parallel()
	s, m, _ := start(t)
	value, _ := create(t, s, 7)
	for name, bad := range map[string]string{
		"an empty value":           "",
		"a value that is too long": strings.Repeat("x", maxLegacy+1),
		"a huge value":             strings.Repeat("x", 1<<20),
		"a value that is cut off":  value[:len(value)-1],
		"a value with a typo":      value[:10] + flip(value[10]) + value[11:],
		"a value with a space":     "legacy key",
		"a value with a newline":   "legacykey\n",
		"a value that is no ASCII": "legacykeyé",
	} {
		if _, err := s.Authenticate(t.Context(), bad, "203.0.113.7"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m.lookups != 0 {
		t.Errorf("%d lookups", m.lookups)
	}
	if _, err := s.Authenticate(t.Context(), "prn_0000000000000000000000000000000000000000000"+checksum("prn_0000000000000000000000000000000000000000000"), "203.0.113.7"); !fault.Is(err, fault.Unauthenticated) || m.lookups != 1 {
		t.Errorf("a well-formed key that was never created: %v after %d lookups", err, m.lookups)
	}
}

func flip(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

func TestImportedKeyWithoutPrefixWorks(t *testing.T) {
	t.Parallel()
	s, m, _ := start(t)
	m.keys = []Key{{ID: 1, Shop: 7, Hash: HashOf("old-key-123"), Scopes: []Scope{All}}}
	if _, err := s.Authenticate(t.Context(), "old-key-123", "203.0.113.7"); err != nil {
		t.Error(err)
	}
}

func TestUnavailableDatabaseIsNotUnknownKey(t *testing.T) {
	t.Parallel()
	s, m, _ := start(t)
	value, _ := create(t, s, 7)
	m.failing = fault.New(fault.Unavailable, "away")
	if _, err := s.Authenticate(t.Context(), value, "203.0.113.7"); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

func TestLastUseIsStoredOnceAMinuteInBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m, at := start(t)
		value, _ := create(t, s, 7)
		m.hold = make(chan struct{})
		for range 3 {
			if _, err := s.Authenticate(t.Context(), value, "203.0.113.7"); err != nil {
				t.Fatal(err)
			}
		}
		close(m.hold)
		s.Wait()
		if m.touches != 1 || !m.keys[0].LastUsedAt.Equal(at.Now()) || m.keys[0].LastUsedFrom != "203.0.113.7" {
			t.Errorf("%d notes, used at %v", m.touches, m.keys[0].LastUsedAt)
		}
		at.Set(at.Now().Add(59 * time.Second))
		if _, err := s.Authenticate(t.Context(), value, "203.0.113.7"); err != nil {
			t.Fatal(err)
		}
		s.Wait()
		if m.touches != 1 {
			t.Errorf("after 59 seconds: %d notes", m.touches)
		}
		at.Set(at.Now().Add(time.Second))
		m.hold = make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := s.Authenticate(ctx, value, "203.0.113.7"); err != nil {
			t.Fatal(err)
		}
		cancel() // the request has ended
		close(m.hold)
		s.Wait()
		if m.touches != 2 {
			t.Errorf("after a minute: %d notes", m.touches)
		}
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		v := newValue()
		if len(v) != valueLength || !strings.HasPrefix(v, Prefix) || !wellFormed(v) || seen[v] {
			t.Fatalf("%q", v)
		}
		if strings.Trim(v[len(Prefix):], digits) != "" {
			t.Fatalf("%q has other characters", v)
		}
		seen[v] = true
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		have, want Scope
		allowed    bool
	}{
		"all is all":                        {All, BillingCharge, true},
		"a scope is itself":                 {BillingCharge, BillingCharge, true},
		"write includes read":               {ContractsWrite, ContractsRead, true},
		"read does not include write":       {ContractsRead, ContractsWrite, false},
		"writing does not include charging": {BillingWrite, BillingCharge, false},
		"one area does not include another": {ContractsWrite, MembershipsRead, false},
	} {
		if got := (Key{Scopes: []Scope{test.have}}).Allows(test.want); got != test.allowed {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (Key{}).Allows(ContractsRead) {
		t.Error("a key without scopes may do something")
	}
}

func FuzzAuthenticate(f *testing.F) {
	f.Add("prn_x")
	f.Add("old-key-123")
	f.Add(newValue())
	f.Fuzz(func(t *testing.T, value string) {
		s, m, _ := start(t)
		if _, err := s.Authenticate(t.Context(), value, "203.0.113.7"); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%q: %v", value, err)
		}
		if m.lookups > 0 && (len(value) > maxLegacy || value == "") {
			t.Errorf("looked up %q", value)
		}
	})
}
