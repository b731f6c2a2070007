package design

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	_ "image/gif"  // for Decode
	_ "image/jpeg" // for Decode
	"image/png"
	"regexp"
	"sync"
	"unicode"

	"golang.org/x/image/draw"
	"golang.org/x/image/riff"
	"golang.org/x/image/vp8l"
	_ "golang.org/x/image/webp" // for Decode

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Limits of logos.
const (
	// MaxUpload is how many bytes a file may have.
	MaxUpload = 2 << 20
	// maxPixels is how many pixels it may have: decoding takes up to 16 bytes for each.
	maxPixels = 8_000_000
	// maxSide is how many pixels a stored logo has on its long side: twice as many as are shown.
	maxSide = 512
	// maxStored is how many bytes a stored logo has.
	maxStored = 256 << 10
)

// Picture is a logo as it is stored and shown.
type Picture struct {
	Hash          string // of the bytes
	Width, Height int
	PNG           []byte
}

// decoding has one file decoded at a time, so that many at once do not take the memory.
var decoding sync.Mutex

// ReadPicture returns the logo that a file holds, at most 512 pixels wide and high and encoded again:
// nothing of the file is kept but its pixels.
func ReadPicture(file []byte) (Picture, error) {
	if len(file) > MaxUpload {
		return Picture{}, TooLarge()
	}
	if isSVG(file) {
		return Picture{}, badLogo("an SVG file can contain scripts, so it is not accepted: export the logo as PNG")
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(file))
	if errors.Is(err, image.ErrFormat) {
		return Picture{}, badLogo("the file is not a picture that can be read: upload a PNG, JPEG, WebP or GIF file")
	}
	if err != nil || size.Width <= 0 || size.Height <= 0 || format == "webp" && !isAsLarge(file, size) {
		return Picture{}, damaged(format)
	}
	if int64(size.Width)*int64(size.Height) > maxPixels {
		return Picture{}, badLogo("the picture has %d × %d pixels, more than 8 million: make it smaller, such as 1000 pixels wide", size.Width, size.Height)
	}
	decoding.Lock()
	defer decoding.Unlock()
	full, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return Picture{}, damaged(format)
	}
	return encode(full)
}

// TooLarge refuses a file with more than MaxUpload bytes.
func TooLarge() error {
	return fault.New(fault.TooLarge, "the file has more than %d MB: choose a smaller one", MaxUpload>>20).Entity(entity).Code("logoTooLarge").Field("logo")
}

func badLogo(format string, args ...any) error {
	return fault.New(fault.Invalid, format, args...).Entity(entity).Code("logo").Field("logo")
}

func damaged(format string) error {
	if format == "webp" {
		return badLogo("the WebP file is damaged or moves: upload a picture that stands still, or a PNG file")
	}
	return badLogo("the %s file is damaged: export the logo again, as PNG", map[string]string{"png": "PNG", "jpeg": "JPEG", "gif": "GIF"}[format])
}

// isAsLarge reports whether the picture within a WebP file is as large as the file says. The
// decoder of lossless pictures takes the memory for what is within before it compares them.
func isAsLarge(file []byte, says image.Config) bool {
	_, chunks, err := riff.NewReader(bytes.NewReader(file))
	if err != nil {
		return false
	}
	for {
		id, _, data, err := chunks.Next()
		if err != nil {
			return false
		}
		switch id {
		case riff.FourCC{'V', 'P', '8', ' '}: // whose decoder compares first
			return true
		case riff.FourCC{'V', 'P', '8', 'L'}:
			is, err := vp8l.DecodeConfig(data)
			return err == nil && is.Width == says.Width && is.Height == says.Height
		}
	}
}

// root is the first element of an SVG file, with or without a prefix.
var root = regexp.MustCompile(`(?i)<([a-z]+:)?svg[\s>]`)

// isSVG reports whether a file is SVG: text with the element svg near its beginning.
func isSVG(file []byte) bool {
	text := bytes.TrimLeftFunc(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")), unicode.IsSpace)
	return bytes.HasPrefix(text, []byte("<")) && root.Match(text[:min(len(text), 4096)])
}

// encode returns a picture, scaled down until it is small enough.
func encode(full image.Image) (Picture, error) {
	for side := maxSide; ; side = side * 3 / 4 {
		small := scaled(full, side)
		var b bytes.Buffer
		if err := png.Encode(&b, small); err != nil {
			return Picture{}, err
		}
		if b.Len() > maxStored { // 192 pixels have less, whatever they show
			continue
		}
		sum := sha256.Sum256(b.Bytes())
		return Picture{Hash: hex.EncodeToString(sum[:16]), Width: small.Rect.Dx(), Height: small.Rect.Dy(), PNG: b.Bytes()}, nil
	}
}

// scaled returns a picture with at most so many pixels on its long side.
func scaled(full image.Image, side int) *image.NRGBA {
	from := full.Bounds()
	w, h := from.Dx(), from.Dy()
	if long := max(w, h); long > side {
		w, h = max(1, (w*side+long/2)/long), max(1, (h*side+long/2)/long)
	}
	small := image.NewNRGBA(image.Rect(0, 0, w, h))
	if w == from.Dx() && h == from.Dy() {
		draw.Draw(small, small.Rect, full, from.Min, draw.Src)
		return small
	}
	draw.CatmullRom.Scale(small, small.Rect, full, from, draw.Src, nil)
	return small
}

// named is how a picture is named.
var named = regexp.MustCompile(`^[0-9a-f]{32}$`)

// IsHash reports whether a text can be the hash of a picture.
func IsHash(text string) bool { return named.MatchString(text) }
