package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

func TestMailPreviewNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	for _, kind := range notify.CustomerKinds() {
		for language, hello := range map[string]string{"en": "Hello Ada,", "de": "Hallo Ada,", "xx": "Hello Ada,"} {
			var out bytes.Buffer
			page := filepath.Join(t.TempDir(), "letter.html")
			c := mailPreviewCommand{Kind: kind, Locale: language, HTML: page}
			if err := c.Run(t.Context(), &out); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if got := out.String(); !strings.HasPrefix(got, "From: Your store\nSubject: ") || !strings.Contains(got, hello) || !strings.HasSuffix(got, "\n") {
				t.Errorf("%s in %s:\n%s", kind, language, got)
			}
			if html, err := os.ReadFile(page); err != nil || !bytes.HasPrefix(html, []byte("<!doctype html>")) {
				t.Errorf("%s: the page is %.100s, %v", kind, html, err)
			}
			if err := c.Run(t.Context(), &out); err == nil {
				t.Errorf("%s: a file that exists was overwritten", kind)
			}
		}
	}
	err := (&mailPreviewCommand{Kind: notify.MerchantNotice}).Run(t.Context(), &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "use address, birthday, canceled,") {
		t.Errorf("an e-mail to the merchant: %v", err)
	}
}
