package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"io/fs"
	"time"
)

// file is a file of an archive.
type file struct {
	name       string
	body       []byte
	executable bool
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// writeTarGz packs files below a folder. The archive depends on its arguments only.
func writeTarGz(w io.Writer, folder string, files []file, at time.Time) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode()), Size: int64(len(f.body)), ModTime: at, Format: tar.FormatPAX}
		if err := packed.WriteHeader(header); err != nil {
			return err
		}
		if _, err := packed.Write(f.body); err != nil {
			return err
		}
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// writeZip is writeTarGz for systems that unpack zip archives.
func writeZip(w io.Writer, folder string, files []file, at time.Time) error {
	packed := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode())
		entry, err := packed.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.body); err != nil {
			return err
		}
	}
	return packed.Close()
}
