package simulator

import (
	"cmp"
	"container/heap"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// rowFile keeps the platform's objects, one a row, in a SQLite file.
type rowFile struct {
	db       *sql.DB
	put, del *sql.Stmt
}

func openRows(path string) (*rowFile, error) {
	db, err := sql.Open("sqlite", (&url.URL{
		Scheme: "file", Path: path, RawQuery: "_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)",
	}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS object (kind TEXT NOT NULL, shop TEXT NOT NULL, id TEXT NOT NULL, json BLOB NOT NULL, PRIMARY KEY (kind, shop, id)) WITHOUT ROWID`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &rowFile{db: db}
	if f.put, err = db.Prepare(`INSERT INTO object (kind, shop, id, json) VALUES (?, ?, ?, ?) ON CONFLICT (kind, shop, id) DO UPDATE SET json = excluded.json`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if f.del, err = db.Prepare(`DELETE FROM object WHERE kind = ? AND shop = ? AND id = ?`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *rowFile) close() error { return f.db.Close() }

// write makes changes durable together; a nil record is deleted.
func (f *rowFile) write(changes map[rowKey]record, wipe bool) (err error) {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	if wipe {
		if _, err := tx.Exec(`DELETE FROM object`); err != nil {
			return err
		}
	}
	put, del := tx.Stmt(f.put), tx.Stmt(f.del)
	for k, r := range changes {
		if r == nil {
			if _, err := del.Exec(k.Kind, k.Shop, k.ID); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write %v: %w", k, err)
		}
		if _, err := put.Exec(k.Kind, k.Shop, k.ID, text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// save notes that an object has changed.
func (s *Simulator) save(r record) {
	if s.file != nil {
		s.dirty[r.key()] = r
	}
}

// drop notes that an object is gone.
func (s *Simulator) drop(r record) {
	if s.file != nil {
		s.dirty[r.key()] = nil
	}
}

// flush makes the noted changes durable.
func (s *Simulator) flush() error {
	if s.file == nil || len(s.dirty) == 0 {
		return nil
	}
	if err := s.file.write(s.dirty, false); err != nil {
		return fmt.Errorf("keep the platform's objects: %w", err)
	}
	clear(s.dirty)
	return nil
}

// row is an object as it is kept.
type row struct {
	Kind string          `json:"kind"`
	Shop string          `json:"shop,omitempty"`
	ID   string          `json:"id,omitempty"`
	JSON json.RawMessage `json:"object"`
}

// openFile reads the rows of an earlier platform, if there are any.
func (s *Simulator) openFile(path string) error {
	f, err := openRows(path)
	if err != nil {
		return err
	}
	found, err := f.db.Query(`SELECT kind, shop, id, json FROM object`)
	if err != nil {
		return errors.Join(err, f.close())
	}
	defer found.Close()
	var rows []row
	for found.Next() {
		var r row
		if err := found.Scan(&r.Kind, &r.Shop, &r.ID, &r.JSON); err != nil {
			return errors.Join(err, f.close())
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		return errors.Join(err, f.close())
	}
	if err := s.load(rows); err != nil {
		return errors.Join(err, f.close())
	}
	s.file = f
	return nil
}

// Snapshot writes everything that the platform holds as JSON.
func (s *Simulator) Snapshot(w io.Writer) error {
	s.running.Lock() // nothing may be under way
	defer s.running.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []row
	for _, r := range s.all() {
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write a snapshot: %w", err)
		}
		k := r.key()
		rows = append(rows, row{k.Kind, k.Shop, k.ID, text})
	}
	return json.NewEncoder(w).Encode(rows)
}

// Restore replaces everything that the platform holds by a snapshot.
func (s *Simulator) Restore(r io.Reader) error {
	var rows []row
	if err := json.NewDecoder(r).Decode(&rows); err != nil {
		return fmt.Errorf("read a snapshot: %w", err)
	}
	s.running.Lock()
	defer s.running.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if err := s.load(rows); err != nil {
		s.failure = err
		return err
	}
	clear(s.dirty)
	s.stir()
	if s.file == nil {
		return nil
	}
	everything := map[rowKey]record{}
	for _, r := range s.all() {
		everything[r.key()] = r
	}
	if err := s.file.write(everything, true); err != nil {
		s.failure = err
		return fmt.Errorf("keep a snapshot: %w", err)
	}
	return nil
}

// all lists every kept object.
func (s *Simulator) all() []record {
	list := []record{s.state.meta, faultRow{s.faults.current, s.faults.counts}}
	for id, n := range s.faults.seen {
		list = append(list, seenRow{id, n})
	}
	for _, sh := range s.state.order {
		list = append(list, sh, &sh.next)
		list = appendAll(list, sh.products.order)
		list = appendAll(list, sh.variants.order)
		list = appendAll(list, sh.removed.order)
		list = appendAll(list, sh.customers.order)
		for _, c := range sh.customers.order {
			list = appendAll(list, c.methods)
		}
		list = appendAll(list, sh.orders.order)
		for _, c := range sh.contracts.order {
			list = append(list, c)
			for _, i := range sortedKeys(c.cycles) {
				list = append(list, c.cycles[i])
			}
		}
		list = appendAll(list, sh.attempts.order)
		list = appendAll(list, sh.drafts.order)
		list = appendAll(list, sh.subscriptions.order)
		list = appendAll(list, sh.locations.order)
		list = appendAll(list, sh.carriers.order)
		list = appendAll(list, sh.profiles.order)
		list = appendAll(list, sh.planGroups.order)
	}
	return appendAll(list, s.sortedAgenda())
}

func appendAll[T record](list []record, more []T) []record {
	for _, r := range more {
		list = append(list, r)
	}
	return list
}

// loadOrder has every kind after the kinds that it refers to.
var loadOrder = []string{"meta", "faults", "seen", "shop", "counters", "product", "variant", "customer", "method", "contract", "order", "cycle", "attempt", "draft", "subscription", "planGroup", "location", "carrier", "profile", "agenda"}

// load fills an empty state with rows.
func (s *Simulator) load(rows []row) error {
	byKind := map[string][]row{}
	for _, r := range rows {
		byKind[r.Kind] = append(byKind[r.Kind], r)
	}
	for _, kind := range loadOrder {
		sortRows(byKind[kind])
		for _, r := range byKind[kind] {
			if err := s.loadRow(r); err != nil {
				return fmt.Errorf("read %s %s of %q: %w", r.Kind, r.ID, r.Shop, err)
			}
		}
	}
	slices.SortFunc(s.state.order, func(a, b *store) int { return cmp.Compare(a.ID, b.ID) })
	for _, sh := range s.state.order {
		for _, c := range sh.customers.order {
			slices.SortFunc(c.methods, func(a, b *paymentMethod) int { return cmp.Compare(a.Number, b.Number) })
		}
	}
	heap.Init(&s.agenda)
	return nil
}

func read[T any](r row) (*T, error) {
	v := new(T)
	return v, json.Unmarshal(r.JSON, v)
}

func (s *Simulator) loadRow(r row) error {
	sh := s.state.shops[r.Shop]
	if sh == nil && r.Shop != "" && r.Kind != "shop" {
		return errors.New("there is no such store")
	}
	switch r.Kind {
	case "meta":
		return json.Unmarshal(r.JSON, &s.state.meta)
	case "faults":
		f, err := read[faultRow](r)
		if err == nil {
			s.faults.current, s.faults.counts = f.Current, orMap(f.Counts)
		}
		return err
	case "shop":
		v, err := read[store](r)
		if err != nil {
			return err
		}
		zone, err := time.LoadLocation(v.TimeZone)
		if err != nil {
			return err
		}
		s.addStore(v, zone)
	case "seen":
		v, err := read[seenRow](r)
		if err == nil {
			s.faults.seen[v.Identity] = v.Times
		}
		return err
	case "counters":
		if err := json.Unmarshal(r.JSON, &sh.next); err != nil {
			return err
		}
		sh.next.startPlans((sh.ID - firstShop) * shopSpacing)
		return nil
	case "product":
		v, err := read[product](r)
		if err != nil {
			return err
		}
		sh.products.add(v.ID, v)
	case "variant":
		v, err := read[variant](r)
		if err != nil {
			return err
		}
		sh.addVariant(v)
	case "customer":
		v, err := read[customer](r)
		if err != nil {
			return err
		}
		sh.addCustomer(v)
	case "method":
		v, err := read[paymentMethod](r)
		if err != nil {
			return err
		}
		sh.addMethod(v)
	case "contract":
		v, err := read[contract](r)
		if err != nil {
			return err
		}
		sh.indexContract(v)
	case "order":
		v, err := read[order](r)
		if err != nil {
			return err
		}
		sh.orders.add(v.ID, v)
		v.customer, _ = sh.customers.get(v.Customer)
		v.customer.orders = append(v.customer.orders, v)
		if c, ok := sh.contracts.get(v.Contract); ok {
			v.contract = c
			c.orders = append(c.orders, v)
		}
		for _, l := range v.Lines { // a purchase can begin several contracts
			if c, ok := sh.contracts.get(l.Contract); ok && !slices.Contains(c.orders, v) {
				c.orders = append(c.orders, v)
			}
		}
	case "cycle":
		v, err := read[cycle](r)
		if err != nil {
			return err
		}
		if c, ok := sh.contracts.get(v.Contract); ok {
			c.cycles[v.Index] = v
		}
	case "attempt":
		v, err := read[attempt](r)
		if err != nil {
			return err
		}
		s.index(v)
		v.order, _ = sh.orders.get(v.Order)
	case "draft":
		v, err := read[draft](r)
		if err != nil {
			return err
		}
		sh.drafts.add(v.ID, v)
	case "subscription":
		v, err := read[subscription](r)
		if err != nil {
			return err
		}
		sh.subscriptions.add(v.ID, v)
	case "planGroup":
		v, err := read[planGroup](r)
		if err != nil {
			return err
		}
		sh.planGroups.add(v.ID, v)
	case "location":
		v, err := read[place](r)
		if err != nil {
			return err
		}
		sh.locations.add(v.ID, v)
	case "carrier":
		v, err := read[carrier](r)
		if err != nil {
			return err
		}
		sh.carriers.add(v.ID, v)
	case "profile":
		v, err := read[profile](r)
		if err != nil {
			return err
		}
		sh.profiles.add(v.ID, v)
	case "agenda":
		v, err := read[item](r)
		if err != nil {
			return err
		}
		s.agenda.items = append(s.agenda.items, *v)
	}
	return nil
}

// sortRows brings rows into the order in which their objects were made: ids
// grow, and shorter numbers are smaller ones.
func sortRows(rows []row) {
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Shop, b.Shop), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

func orMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
