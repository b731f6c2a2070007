package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Reader reads an archive.
type Reader struct {
	Manifest Manifest
	// Digest names the archive: the hash of its manifest, which has those of its files.
	Digest string
	files  map[string]*zip.File
}

// damaged is the failure of an archive that cannot be read, with the reason.
func damaged(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...).Entity("archive").Code("archiveDamaged")
}

// Open reads the list of files and the manifest. It fails with Invalid (archiveDamaged) when they
// are not those of an archive, and with FailedPrecondition (archiveTooNew) when the archive
// was written in a later version of the format.
func Open(from io.ReaderAt, size int64) (*Reader, error) {
	z, err := zip.NewReader(from, size)
	if err != nil {
		return nil, fault.Because(fault.Invalid, err, "the file is no zip file, or its end is missing").Entity("archive").Code("archiveDamaged")
	}
	a := &Reader{files: make(map[string]*zip.File)}
	expected := map[string]bool{manifestName: true}
	for _, t := range Types {
		expected[t.File()], expected[t.Sheet()] = true, true
	}
	for _, f := range z.File {
		if a.files[f.Name] != nil {
			return nil, damaged("%.80s is in the archive twice", f.Name)
		}
		if f.UncompressedSize64 > smallFile && f.UncompressedSize64/maxRatio > f.CompressedSize64 {
			return nil, damaged("%.80s would unpack to more than %d times its size", f.Name, maxRatio)
		}
		a.files[f.Name] = f
	}
	if err := a.readManifest(); err != nil {
		return nil, err
	}
	for name := range a.files {
		if !expected[name] {
			return nil, damaged("%.80q is no file of an archive", name)
		}
	}
	return a, a.compareFiles()
}

func (a *Reader) readManifest() error {
	f := a.files[manifestName]
	if f == nil {
		return damaged("%s is missing", manifestName)
	}
	in, err := f.Open()
	if err != nil {
		return damaged("%s cannot be read: %v", manifestName, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxManifest+1))
	if err != nil {
		return damaged("%s cannot be read: %v", manifestName, err)
	}
	if len(text) > maxManifest {
		return damaged("%s is longer than %d bytes", manifestName, maxManifest)
	}
	m := &a.Manifest
	if err := json.Unmarshal(text, m); err != nil {
		return damaged("%s is no manifest: %v", manifestName, err)
	}
	switch {
	case m.Format != Format:
		return damaged("the format is %.40q, not %s", m.Format, Format)
	case m.Version > Version:
		return fault.New(fault.FailedPrecondition, "the archive has version %d of the format, and this service reads up to %d: update it", m.Version, Version).Entity("archive").Code("archiveTooNew")
	case m.Version < 1:
		return damaged("version %d of the format does not exist", m.Version)
	case m.Lowest < 0 || m.Highest < m.Lowest || m.Highest > maxNumber:
		return damaged("numbers from %d to %d are not possible", m.Lowest, m.Highest)
	}
	sum := sha256.Sum256(text)
	a.Digest = hex.EncodeToString(sum[:])
	return nil
}

// maxNumber is the greatest number that a store takes over: far from the end of the numbers that
// are left for rows to come.
const maxNumber = 1 << 50

// compareFiles holds the files against the manifest.
func (a *Reader) compareFiles() error {
	total := int64(0)
	for _, t := range Types {
		for _, name := range []string{t.File(), t.Sheet()} {
			stated, listed := a.Manifest.file(name)
			f := a.files[name]
			switch {
			case f == nil:
				return damaged("%s is missing", name)
			case !listed:
				return damaged("%s is not in the manifest", name)
			case stated.Type != t.Name:
				return damaged("%s is said to hold %.40q", name, stated.Type)
			case stated.Records < 0 || stated.Records > maxRecords:
				return damaged("%s is said to have %d records; at most %d are read", name, stated.Records, maxRecords)
			case stated.Bytes < 0 || f.UncompressedSize64 != uint64(stated.Bytes):
				return damaged("%s has %d bytes, and %d by the manifest", name, f.UncompressedSize64, stated.Bytes)
			}
			if total += stated.Bytes; total > maxBytes {
				return damaged("the files have more than %d bytes", maxBytes)
			}
		}
	}
	if n := len(a.Manifest.Files); n != 2*len(Types) {
		return damaged("the manifest lists %d files, not %d", n, 2*len(Types))
	}
	return nil
}

// content calls read with the content of a file, and checks its size and hash when read is done.
func (a *Reader) content(name string, read func(io.Reader) error) error {
	stated, _ := a.Manifest.file(name)
	in, err := a.files[name].Open()
	if err != nil {
		return damaged("%s cannot be read: %v", name, err)
	}
	defer in.Close()
	sum, size := sha256.New(), new(count)
	counted := io.TeeReader(io.LimitReader(packed{in, name}, stated.Bytes+1), io.MultiWriter(sum, size))
	readErr := read(counted)
	if readErr == nil {
		_, readErr = io.Copy(io.Discard, counted)
	}
	switch {
	case readErr != nil:
		return readErr
	case int64(*size) != stated.Bytes:
		return damaged("%s has %d bytes or more, and %d by the manifest", name, int64(*size), stated.Bytes)
	case hex.EncodeToString(sum.Sum(nil)) != stated.SHA256:
		return damaged("%s is not what the manifest has the SHA-256 of", name)
	}
	return nil
}

// packed is a file of an archive: one that cannot be unpacked is damaged.
type packed struct {
	io.Reader

	name string
}

// Read reads.
func (p packed) Read(to []byte) (int, error) {
	n, err := p.Reader.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = damaged("%s is damaged: %v", p.name, err)
	}
	return n, err
}

// each calls fn with every record of a type, in order. What it passed on must be dropped when it
// fails: whether the file is what the manifest says is known at its end.
func (a *Reader) each(ctx context.Context, t Type, fn func(Record) error) error {
	stated, _ := a.Manifest.file(t.File())
	return a.content(t.File(), func(in io.Reader) error {
		lines := bufio.NewReaderSize(in, 1<<16)
		var last Record
		n := 0
		for {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return lineFault(t, n+1, err)
			}
			if n++; n > stated.Records {
				return damaged("%s has more than the %d records of the manifest", t.File(), stated.Records)
			}
			r, err := t.record(line)
			if err != nil {
				return damaged("%s, line %d: %v", t.File(), n, err)
			}
			if last != nil {
				switch c := t.compareKeys(last, r); {
				case c == 0:
					return damaged("%s, line %d: the record is there twice", t.File(), n)
				case c > 0:
					return damaged("%s, line %d: the records are not in order", t.File(), n)
				}
			}
			last = r
			if n%page == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if err := fn(r); err != nil {
				return err
			}
		}
		if n != stated.Records {
			return damaged("%s has %d records, and %d by the manifest", t.File(), n, stated.Records)
		}
		return nil
	})
}

var (
	errLongLine = errors.New("the record is longer than it may be")
	errNoEnd    = errors.New("the line has no end")
)

func lineFault(t Type, n int, err error) error {
	if errors.Is(err, errLongLine) || errors.Is(err, errNoEnd) {
		return damaged("%s, line %d: %v", t.File(), n, err)
	}
	return err
}

// readLine returns the next line without its end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(long)+len(part) > maxLine {
			return nil, errLongLine
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			continue
		case errors.Is(err, io.EOF) && len(long)+len(part) > 0:
			return nil, errNoEnd
		case err != nil:
			return nil, err
		}
		if long != nil {
			part = append(long, part...)
		}
		return bytes.TrimSuffix(part, []byte{'\n'}), nil
	}
}
