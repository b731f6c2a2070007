package design_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
)

// drawn returns a picture: a dark square with a border that cannot be seen through.
func drawn(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			if x > w/4 && x < w*3/4 {
				m.SetNRGBA(x, y, color.NRGBA{0x20, 0x40, 0x90, 0xff})
			}
		}
	}
	return m
}

func encoded(t *testing.T, m image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	err := map[string]func() error{
		"png": func() error { return png.Encode(&b, m) }, "jpeg": func() error { return jpeg.Encode(&b, m, nil) }, "gif": func() error { return gif.Encode(&b, m, nil) },
	}[format]()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp is a lossless WebP file of one pixel.
const webp = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func TestPictureIsStoredSmallAsPNG(t *testing.T) {
	t.Parallel()
	one, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		file []byte
		w, h int
	}{
		"a small PNG stays as large":  {encoded(t, drawn(120, 40), "png"), 120, 40},
		"a wide JPEG is scaled":       {encoded(t, drawn(2000, 500), "jpeg"), 512, 128},
		"a high GIF is scaled":        {encoded(t, drawn(300, 900), "gif"), 171, 512},
		"a WebP is read":              {one, 1, 1},
		"an extended WebP is read":    {extended(1, 1), 1, 1},
		"a thread keeps one pixel":    {encoded(t, drawn(4000, 2), "png"), 512, 1},
		"as many pixels as may be":    {encoded(t, drawn(4000, 2000), "png"), 512, 256},
		"a comment is not taken over": {commented(encoded(t, drawn(120, 40), "png")), 120, 40},
	} {
		p, err := design.ReadPicture(row.file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := png.Decode(bytes.NewReader(p.PNG))
		if err != nil || m.Bounds().Dx() != row.w || m.Bounds().Dy() != row.h || p.Width != row.w || p.Height != row.h || !design.IsHash(p.Hash) {
			t.Errorf("%s: %d × %d named %q (%v), want %d × %d", name, p.Width, p.Height, p.Hash, err, row.w, row.h)
		}
		if bytes.Contains(p.PNG, []byte("secret")) {
			t.Errorf("%s: it is", name)
		}
		again, err := design.ReadPicture(p.PNG)
		if err != nil || again.Hash != p.Hash {
			t.Errorf("%s: read again it is %s (%v), want %s", name, again.Hash, err, p.Hash)
		}
	}
}

// chunk returns a chunk of a PNG file.
func chunk(kind, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(b, kind+data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(kind+data)))
}

// header is how a PNG file with so many pixels begins.
func header(w, h uint32) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", string(size)+"\x08\x06\x00\x00\x00")...)
}

// commented adds a text to a PNG file.
func commented(file []byte) []byte {
	head := len(header(1, 1))
	return bytes.Join([][]byte{file[:head], chunk("tEXt", "Author\x00secret"), file[head:]}, nil)
}

// extended returns a WebP file that says it has one pixel, with a lossless picture in it that says
// it has so many.
func extended(w, h int) []byte {
	one, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		panic(err)
	}
	lossless := bytes.Clone(one[12:])
	binary.LittleEndian.PutUint32(lossless[9:], uint32(w-1)|uint32(h-1)<<14) // after the chunk's name, length and signature
	file := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), make([]byte, 10)...)
	file = append(file, lossless...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

func TestFileThatIsNoLogoIsRefused(t *testing.T) {
	t.Parallel()
	whole := encoded(t, drawn(120, 40), "png")
	for name, row := range map[string]struct {
		file []byte
		kind fault.Kind
		says string
	}{
		"nothing":                   {nil, fault.Invalid, "not a picture"},
		"a text":                    {[]byte("hello"), fault.Invalid, "not a picture"},
		"a page":                    {[]byte("<!doctype html><script>alert(1)</script>"), fault.Invalid, "not a picture"},
		"an SVG":                    {[]byte("\xef\xbb\xbf\n<?xml version='1.0'?><!-- x --><svg xmlns='http://www.w3.org/2000/svg'/>"), fault.Invalid, "can contain scripts"},
		"an SVG with a prefix":      {[]byte("<s:SVG xmlns:s='http://www.w3.org/2000/svg'/>"), fault.Invalid, "can contain scripts"},
		"half a PNG":                {whole[:len(whole)/2], fault.Invalid, "the PNG file is damaged"},
		"a PNG without its size":    {whole[:12], fault.Invalid, "the PNG file is damaged"},
		"half a JPEG":               {encoded(t, drawn(120, 40), "jpeg")[:300], fault.Invalid, "the JPEG file is damaged"},
		"2.5 billion pixels":        {header(50000, 50000), fault.Invalid, "50000 × 50000 pixels"},
		"more than 63 bits counts":  {header(1<<31-1, 1<<31-1), fault.Invalid, "PNG"},
		"a row of pixels too much":  {header(4000, 2001), fault.Invalid, "more than 8 million"},
		"a byte too much":           {make([]byte, design.MaxUpload+1), fault.TooLarge, "more than 2 MB"},
		"the beginning of a WebP":   {[]byte("RIFF\x1a\x00\x00\x00WEBPVP8L"), fault.Invalid, "WebP file is damaged"},
		"a WebP of another size":    {extended(2, 1), fault.Invalid, "WebP file is damaged"},
		"a WebP that hides 16384²":  {extended(1<<14, 1<<14), fault.Invalid, "WebP file is damaged"},
		"a PNG of no pixels at all": {header(0, 10), fault.Invalid, "the PNG file is damaged"},
	} {
		p, err := design.ReadPicture(row.file)
		if !fault.Is(err, row.kind) || !strings.Contains(err.Error(), row.says) || p.PNG != nil {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}

// The memory that a file takes is known before it is decoded. The test measures that of the process,
// so it does not run beside others.
func TestRefusedFileTakesNoMemory(t *testing.T) {
	for name, file := range map[string][]byte{"a PNG": header(50000, 50000), "a WebP": extended(1<<14, 1<<14)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := design.ReadPicture(file); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s takes %d MB", name, took>>20)
		}
	}
}

// A photograph that does not compress is drawn smaller, so that every page loads fast.
func TestPictureThatIsHardToCompressGetsSmaller(t *testing.T) {
	t.Parallel()
	noise := image.NewNRGBA(image.Rect(0, 0, 512, 512))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.Uint32())
	}
	p, err := design.ReadPicture(encoded(t, noise, "png"))
	if err != nil || len(p.PNG) > 256<<10 || p.Width >= 512 || p.Width < 190 {
		t.Errorf("%d × %d in %d bytes (%v)", p.Width, p.Height, len(p.PNG), err)
	}
}
