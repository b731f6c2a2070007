package mover

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/table"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

const (
	// MaxFile is how many bytes a file of contracts may have.
	MaxFile = 1 << 30
	// partSize is how many bytes of a file, compressed, are stored together.
	partSize = 512 << 10
	// longestName is how many bytes of the name of a file are kept.
	longestName = 200
)

// NewFile is a file that is uploaded.
type NewFile struct {
	Name  string
	Kind  table.Kind // empty: contracts
	Body  io.Reader
	Plans map[int64]int64 // selling plans of this service, by those that the file names
	By    activity.Actor
}

// Upload stores a CSV file of contracts, guesses which column holds which field, or takes the
// choices for the last file with the same columns, and starts a move that waits for SetMapping. It is
// a Conflict while another move is open. A file that cannot be read leaves an ended move.
func (s *Service) Upload(ctx context.Context, of shop.ID, n NewFile) (moving.Move, error) {
	m := moving.Move{
		Direction: moving.In, Plans: n.Plans, Status: moving.Mapping, Line: shop.Subscriptions, By: n.By,
		File: &moving.File{Name: n.Name[:min(len(n.Name), longestName)], Kind: string(n.Kind)},
	}
	var earlier []moving.Move
	err := s.Store.Update(ctx, of, func(tx moving.Tx) (err error) {
		earlier, err = s.add(ctx, tx, of, &m)
		return err
	})
	if err != nil {
		return moving.Move{}, err
	}
	if err := s.receive(ctx, of, &m, n.Body); err != nil {
		return moving.Move{}, s.giveUp(context.WithoutCancel(ctx), of, m, err)
	}
	m.File.Fields = table.Guess(kindOf(m), m.File.Header)
	for _, other := range earlier {
		if f := other.File; f != nil && f.Kind == m.File.Kind && len(f.Fields) > 0 && slices.Equal(f.Header, m.File.Header) {
			m.File.Choices = f.Choices
			break
		}
	}
	err = s.Store.Update(ctx, of, func(tx moving.Tx) error { return tx.PutMove(ctx, &m) })
	return m, err
}

// kindOf returns what the rows of a move's file are about.
func kindOf(m moving.Move) table.Kind { return cmp.Or(table.Kind(m.File.Kind), table.ContractRows) }

// receive stores a file and notes its size, its header and what its columns look like.
func (s *Service) receive(ctx context.Context, of shop.ID, m *moving.Move, body io.Reader) error {
	f := m.File
	parts := &partWriter{add: func(content []byte) error {
		f.Parts++
		return s.Store.Update(ctx, of, func(tx moving.Tx) error { return tx.AddMoveFile(ctx, m.ID, f.Parts-1, content) })
	}}
	packed := gzip.NewWriter(parts)
	lines := &lineCounter{}
	size, err := io.Copy(io.MultiWriter(packed, lines), io.LimitReader(body, MaxFile+1))
	switch {
	case err != nil:
		return fault.Because(fault.Invalid, err, "the file was not received to its end: upload it again").Entity("move").Code("fileIncomplete").Field("file")
	case size > MaxFile:
		return fault.New(fault.Invalid, "the file has more than %d MiB: split it", MaxFile>>20).Entity("move").Code("fileTooLarge").Field("file")
	}
	if err := packed.Close(); err != nil {
		return err
	}
	if err := parts.end(); err != nil {
		return err
	}
	f.Lines = lines.n
	rows, err := s.openTable(ctx, of, *m)
	if err != nil {
		return err
	}
	if f.Columns, err = rows.Columns(); err != nil {
		return err
	}
	f.Header, f.Bytes = rows.Header, size
	return nil
}

// giveUp removes what an upload that failed has left, and returns why it failed.
func (s *Service) giveUp(ctx context.Context, of shop.ID, m moving.Move, why error) error {
	err := s.Store.Update(ctx, of, func(tx moving.Tx) error {
		m.Status, m.EndedAt = moving.Ended, s.Clock.Now()
		return s.put(ctx, tx, of, &m, "the file could not be read")
	})
	if err != nil {
		return fmt.Errorf("%w; what is left of the file could not be removed: %w", why, err)
	}
	return why
}

// open returns the content of a move's file. It is NotFound once the file was removed.
func (s *Service) open(ctx context.Context, of shop.ID, m moving.Move) (io.Reader, error) {
	return gzip.NewReader(&partReader{of: m.File.Parts, read: func(part int) (content []byte, err error) {
		err = s.Store.View(ctx, of, func(tx moving.ReadTx) error {
			content, err = tx.MoveFile(ctx, m.ID, part)
			return err
		})
		return content, err
	}})
}

// openTable opens a move's file as a table.
func (s *Service) openTable(ctx context.Context, of shop.ID, m moving.Move) (*table.File, error) {
	content, err := s.open(ctx, of, m)
	if err != nil {
		return nil, err
	}
	return table.Open(content)
}

// Sample returns the header of a move's file and at most limit of its first rows.
func (s *Service) Sample(ctx context.Context, of shop.ID, id moving.ID, limit int) (header []string, rows [][]string, err error) {
	var m moving.Move
	err = s.Store.View(ctx, of, func(tx moving.ReadTx) error {
		m, err = tx.Move(ctx, id)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if m.File == nil {
		return nil, nil, fault.New(fault.FailedPrecondition, "the contracts of move %d come from another service, not from a file", id).Entity("move").Code("moveWithoutFile")
	}
	f, err := s.openTable(ctx, of, m)
	if err != nil {
		return nil, nil, err
	}
	return f.Header, f.First(limit), nil
}

// SetMapping says which columns of a move's file hold which fields, and has the file read, again if
// need be. It is Invalid when the mapping does not fit the file, or when a column that looks like an amount, a
// quantity or a date is neither mapped nor left out, and a FailedPrecondition once contracts were let go.
func (s *Service) SetMapping(ctx context.Context, of shop.ID, id moving.ID, by activity.Actor, c moving.Choices) (moving.Move, error) {
	return s.change(ctx, of, id, by, "the columns of the file were given their fields", func(tx moving.Tx, m *moving.Move) error {
		switch {
		case m.File == nil:
			return fault.New(fault.FailedPrecondition, "the contracts of move %d come from another service, not from a file", id).Entity("move").Code("moveWithoutFile")
		case m.File.Bytes == 0:
			return fault.New(fault.FailedPrecondition, "the file of move %d was not received to its end: end the move and upload the file again", id).Entity("move").Code("fileIncomplete")
		case m.Wave > 0:
			return fault.New(fault.FailedPrecondition, "contracts of the file are being moved: end the move, then upload a file with the others").Entity("move").Code("moveBegun")
		}
		if missing := table.Mapping(c.Fields).Check(kindOf(*m), m.File.Header); len(missing) > 0 {
			return fault.New(fault.Invalid, "%s", strings.Join(missing, "; ")).Entity("move").Code("mappingInvalid").Field("mapping")
		}
		if err := checkUnread(*m.File, &c); err != nil {
			return err
		}
		m.File.Choices, m.File.Totals = c, nil
		m.Status, m.Page, m.Announced, m.ReadAt = moving.Listing, 0, 0, time.Time{}
		return tx.RemoveMoveItems(ctx, id)
	})
}

// checkUnread checks that the choices say of each column that matters whether it is read. Columns that are read are not
// kept among those that are left out.
func checkUnread(f moving.File, c *moving.Choices) error {
	unread := f.Unread(*c)
	var open, leftOut []string
	for _, u := range unread {
		if u.Stops() {
			open = append(open, fmt.Sprintf("the column %.60q looks like %s and is not read", u.Name, u.Looks))
		}
		if u.LeftOut {
			leftOut = append(leftOut, u.Name)
		}
	}
	for _, name := range c.LeftOut {
		if !slices.Contains(f.Header, name) && !slices.Contains(leftOut, name) {
			return fault.New(fault.Invalid, "the file has no column %.60q that could be left out", name).Entity("move").Code("columnUnknown").Field("leftOut")
		}
	}
	if len(open) > 0 {
		return fault.New(fault.Invalid, "%s: choose a field for each such column, or leave it out", strings.Join(open, "; ")).Entity("move").Code("columnsOpen").Field("leftOut")
	}
	c.LeftOut = leftOut
	return nil
}

// partWriter passes on what is written to it in parts.
type partWriter struct {
	add func(content []byte) error
	buf bytes.Buffer
}

// Write passes on the parts that are full.
func (w *partWriter) Write(p []byte) (int, error) {
	w.buf.Write(p)
	for w.buf.Len() >= partSize {
		if err := w.add(w.buf.Next(partSize)); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// end passes on the last part.
func (w *partWriter) end() error { return w.add(w.buf.Bytes()) }

// partReader reads parts as one text.
type partReader struct {
	read     func(part int) ([]byte, error)
	of, part int
	rest     []byte
}

// Read reads.
func (r *partReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.part == r.of {
			return 0, io.EOF
		}
		var err error
		if r.rest, err = r.read(r.part); err != nil {
			return 0, err
		}
		r.part++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// lineCounter counts the lines that are written to it.
type lineCounter struct{ n int }

// Write counts.
func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += bytes.Count(p, []byte{'\n'})
	return len(p), nil
}
