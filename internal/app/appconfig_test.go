package app_test

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/goldentest"
	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
)

func TestAppConfigIsWritten(t *testing.T) {
	t.Parallel()
	p := config.Platform{ClientID: "c1", MembershipsClientID: "c2", AppSecret: "secret", MembershipsAppSecret: "secret", APIVersion: "2026-10"}
	for _, name := range []connection.AppName{connection.Primary, connection.Memberships} {
		var text strings.Builder
		if err := app.WriteAppConfig(&text, p, app.AppConfig{App: name, Name: `Tea "by post"`, URL: "https://app.example/"}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text.String(), "secret") {
			t.Error("a secret is in the file")
		}
		goldentest.Same(t, "testdata/appconfig_"+string(name)+".toml", []byte(text.String()))
	}
	for _, url := range []string{"", "app.example", "http://app.example", "https://", "https://app.example/?a=b", "https://a@app.example", "://"} {
		if err := app.WriteAppConfig(&strings.Builder{}, p, app.AppConfig{App: connection.Primary, URL: url}); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
	if err := app.WriteAppConfig(&strings.Builder{}, config.Platform{}, app.AppConfig{App: connection.Primary, URL: "https://app.example"}); err == nil {
		t.Error("an app without a client id is accepted")
	}
}
