package pages

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/sandbox"
)

var screenshots = flag.String("screenshots", "", "folder for the pictures of the README")

// TestScreenshotsOfReadme takes the pictures of the README: the demo store after some weeks,
// as its owner sees it.
func TestScreenshotsOfReadme(t *testing.T) {
	if *screenshots == "" {
		t.Skip("make screenshots takes them")
	}
	s := run(t, sandbox.Options{Contracts: 60})
	advance(t, s.URLs().Control, "P38D")
	m := s.Manifest()
	at := &site{URLs: s.URLs(), manifest: m}
	v := &visit{t: t, tab: browsertest.Start(t).Tab(t), of: "screenshots"}
	v.tab.Show(1280, 800, "light")
	v.signIn(at, m)
	base := s.URLs().Dashboard + "/admin/stores/" + login.Handle(m.Shop)
	for name, path := range map[string]string{
		"home": "?figures=now", "contract": "/contracts/9001", "failed-payments": "/failed-payments",
	} {
		if status := v.tab.Open(base + path); status != 200 {
			t.Fatalf("%s answers %d", path, status)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), v.tab.Screenshot(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
