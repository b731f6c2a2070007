package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how a file writes characters.
type Encoding string

// The encodings.
const (
	UTF8        Encoding = "UTF-8"
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
	Windows1252 Encoding = "windows-1252"
)

// findEncoding looks at the start of a file, and takes a byte order mark off it.
func findEncoding(in *bufio.Reader) (Encoding, error) {
	start, err := in.Peek(buffer)
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		return "", fmt.Errorf("read the file: %w", err)
	}
	for _, mark := range []struct {
		bytes string
		of    Encoding
	}{{"\xef\xbb\xbf", UTF8}, {"\xff\xfe", UTF16LE}, {"\xfe\xff", UTF16BE}} {
		if bytes.HasPrefix(start, []byte(mark.bytes)) {
			_, err := in.Discard(len(mark.bytes))
			return mark.of, err
		}
	}
	for len(start) > 0 {
		r, size := utf8.DecodeRune(start)
		if r == utf8.RuneError && size == 1 && (whole || utf8.FullRune(start)) {
			return Windows1252, nil
		}
		start = start[size:]
	}
	return UTF8, nil
}

func (e Encoding) decoder() transform.Transformer {
	switch e {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	case Windows1252:
		return charmap.Windows1252.NewDecoder()
	}
	return lateWindows{}
}

// lateWindows passes UTF-8 on. It takes a byte that is not UTF-8 for one of Windows-1252: it comes
// after so many others that were plain ASCII that the encoding was not found.
type lateWindows struct{ transform.NopResetter }

// Transform copies.
func (lateWindows) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if src[nSrc] < utf8.RuneSelf {
			if nDst == len(dst) {
				return nDst, nSrc, transform.ErrShortDst
			}
			dst[nDst] = src[nSrc]
			nDst, nSrc = nDst+1, nSrc+1
			continue
		}
		if !atEOF && !utf8.FullRune(src[nSrc:]) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[nSrc:])
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(src[nSrc])
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc += size
	}
	return nDst, nSrc, nil
}
