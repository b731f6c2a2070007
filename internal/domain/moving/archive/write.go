package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// page is how many records are in memory at once.
const page = 500

// Snapshot is one unchanging view of what a store has.
type Snapshot interface {
	// ArchiveRecords returns at most limit records of a type whose keys are greater than that of
	// after, in the order of the key; nil: from the first.
	ArchiveRecords(ctx context.Context, t Type, after Record, limit int) ([]Record, error)
}

// Progress is called with a type and how many of its records are done.
type Progress func(of string, done int)

// writer writes an archive to a stream.
type writer struct {
	zip      *zip.Writer
	source   Snapshot
	manifest *Manifest
	progress Progress
}

// write writes everything that a snapshot shows, and the manifest at the end.
func (w *writer) write(ctx context.Context) error {
	for _, t := range Types {
		if err := w.lines(ctx, t); err != nil {
			return fmt.Errorf("write %s: %w", t.File(), err)
		}
		if err := w.table(ctx, t); err != nil {
			return fmt.Errorf("write %s: %w", t.Sheet(), err)
		}
	}
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return err
	}
	out, err := w.create(manifestName)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(text, '\n')); err != nil {
		return err
	}
	return w.zip.Close()
}

func (w *writer) create(name string) (io.Writer, error) {
	return w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: w.manifest.CreatedAt.Truncate(2 * time.Second)})
}

// file writes one file and notes it in the manifest.
func (w *writer) file(name string, t Type, fill func(io.Writer) (records int, err error)) error {
	out, err := w.create(name)
	if err != nil {
		return err
	}
	sum, size := sha256.New(), new(count)
	records, err := fill(io.MultiWriter(out, sum, size))
	if err != nil {
		return err
	}
	w.manifest.Files = append(w.manifest.Files, File{Name: name, Type: t.Name, Records: records, Bytes: int64(*size), SHA256: hex.EncodeToString(sum.Sum(nil))})
	return nil
}

func (w *writer) lines(ctx context.Context, t Type) error {
	return w.file(t.File(), t, func(out io.Writer) (int, error) {
		var buffer []byte
		n := 0
		err := w.each(ctx, t, func(r Record) (err error) {
			if buffer, err = t.line(buffer[:0], r); err != nil {
				return err
			}
			if id, ok := r[0].(int64); ok && t.Fields[0].Kind == Own {
				w.manifest.note(id)
			}
			_, err = out.Write(buffer)
			if n++; n%page == 0 {
				w.progress(t.Name, n)
			}
			return err
		})
		w.progress(t.Name, n)
		return n, err
	})
}

func (w *writer) table(ctx context.Context, t Type) error {
	return w.file(t.Sheet(), t, func(out io.Writer) (int, error) {
		rows := csv.NewWriter(out)
		rows.UseCRLF = true
		if err := rows.Write(t.names()); err != nil {
			return 0, err
		}
		n := 0
		if err := w.each(ctx, t, func(r Record) error { n++; return rows.Write(t.row(r)) }); err != nil {
			return n, err
		}
		rows.Flush()
		return n, rows.Error()
	})
}

// each calls fn with every record of a type, in order.
func (w *writer) each(ctx context.Context, t Type, fn func(Record) error) error {
	var last Record
	for {
		list, err := w.source.ArchiveRecords(ctx, t, last, page)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := fn(r); err != nil {
				return err
			}
		}
		if len(list) < page {
			return nil
		}
		last = list[len(list)-1]
	}
}

// note widens the bounds of the service's numbers.
func (m *Manifest) note(id int64) {
	if m.Lowest == 0 || id < m.Lowest {
		m.Lowest = id
	}
	m.Highest = max(m.Highest, id)
}

// count counts the bytes that are written to it.
type count int64

// Write counts.
func (c *count) Write(p []byte) (int, error) {
	*c += count(len(p))
	return len(p), nil
}
