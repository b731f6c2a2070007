package sandbox

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

const rawMail = "Message-ID: <1@sandbox.example>\r\nSubject: =?UTF-8?q?Gr=C3=BC=C3=9Fe?=\r\nX-Perennial-Kind: management_link\r\n" +
	"Content-Type: multipart/alternative; boundary=b\r\n\r\n" +
	"--b\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=B6ffnen: http://x.example/?a=3D1&b=3D2\r\n" +
	"--b\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<a href=3D\"http://x.example/?a=3D1&amp;b=3D2\">=C3=B6</a> <a href=3D\"http://y.exam=\r\nple\">\r\n--b--\r\n"

func openBox(t *testing.T, path string) *mailbox {
	t.Helper()
	b, err := openMailbox(path, clock.NewManual(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEmailIsReadableAfterRestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), mailsFile)
	b := openBox(t, path)
	if err := b.take("", []string{"ada@shopper.example", "bob@shopper.example"}, strings.NewReader(rawMail)); err != nil {
		t.Fatal(err)
	}
	got := b.find("ADA@shopper.example", "")
	if len(got) != 1 || b.count() != 2 {
		t.Fatalf("%d mails, %d of them to Ada", b.count(), len(got))
	}
	m := got[0]
	if m.ID != "1@sandbox.example" || m.To != "ada@shopper.example" || m.Kind != "management_link" || m.Subject != "Grüße" || m.At == nil ||
		m.Text != "öffnen: http://x.example/?a=1&b=2" || !strings.Contains(m.HTML, `">ö</a>`) ||
		!reflect.DeepEqual(m.Links, []string{"http://x.example/?a=1&b=2", "http://y.example"}) {
		t.Errorf("read as %+v", m)
	}
	if again := openBox(t, path).find("", ""); !reflect.DeepEqual(again, b.find("", "")) || len(again) != 2 {
		t.Errorf("after a start: %+v", again)
	}
	for _, none := range [][2]string{{"eve@shopper.example", ""}, {"ada@shopper.example", "upcoming_order"}} {
		if found := b.find(none[0], none[1]); found == nil || len(found) != 0 {
			t.Errorf("%v: %+v", none, found)
		}
	}
}

// A process may be killed while it writes.
func TestPartialEmailIsDropped(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), mailsFile)
	b := openBox(t, path)
	for range 2 {
		if err := b.take("", []string{"ada@shopper.example"}, strings.NewReader(rawMail)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	b = openBox(t, path)
	if b.count() != 1 {
		t.Errorf("%d mails", b.count())
	}
	if err := b.take("", []string{"bob@shopper.example"}, strings.NewReader(rawMail)); err != nil {
		t.Fatal(err)
	}
	if n := openBox(t, path).count(); n != 2 {
		t.Errorf("after another one: %d mails", n)
	}
}

func TestInvalidEmailIsRefused(t *testing.T) {
	t.Parallel()
	b := openBox(t, filepath.Join(t.TempDir(), mailsFile))
	for name, raw := range map[string]string{"nothing": "", "no headers": "x", "no type": "Subject: x\r\n\r\n", "a part that is cut off": rawMail[:len(rawMail)-8]} {
		if err := b.take("", []string{"ada@shopper.example"}, strings.NewReader(raw)); err == nil || b.count() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
