package app

import (
	_ "embed"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/template"

	"github.com/perennialhq/perennial/internal/config"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/web/install"
	"github.com/perennialhq/perennial/internal/web/shopper"
)

// AppConfig says for which app a configuration file is written.
type AppConfig struct {
	App  connection.AppName
	Name string // that merchants see
	URL  string // public URL of the service
}

//go:embed appconfig.toml.tmpl
var appConfigText string

// appConfig is what the file says.
type appConfig struct {
	ClientID, Name, Entry, ScopeNames, Redirect, APIVersion, Topics, Compliance, Webhooks, Proxy, Subpath string

	Scopes []platform.Scope
}

// WriteAppConfig writes the platform's configuration file of an app, in TOML, for the
// operator to push with the platform's own program. It holds no secret.
func WriteAppConfig(out io.Writer, p config.Platform, w AppConfig) error {
	at, err := url.Parse(w.URL)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" || at.User != nil {
		return fmt.Errorf("URL %q: the platform needs an address such as https://subscriptions.example.com", w.URL)
	}
	base := strings.TrimSuffix(w.URL, "/")
	c := appConfig{
		ClientID: p.ClientID, Name: w.Name, Entry: base + install.EntryPath, Redirect: connection.Redirect(base, w.App), APIVersion: p.APIVersion,
		Topics: topics(platform.Uninstalled), Compliance: topics(platform.DataRequest, platform.CustomerRedact, platform.ShopRedact),
		Webhooks: base + "/webhooks", Proxy: base + shopper.Path + string(w.App), Subpath: string(w.App), Scopes: connection.Scopes(w.App),
	}
	if w.App == connection.Memberships { // its removal ends nothing: all calls are made as the other app
		c.ClientID, c.Topics = p.MembershipsClientID, ""
		c.Entry += "/" + string(w.App)
	}
	if c.ClientID == "" {
		return fmt.Errorf("client id: set that of the app %s (PERENNIAL_CLIENT_ID, PERENNIAL_MEMBERSHIPS_CLIENT_ID)", w.App)
	}
	c.ScopeNames = strings.Join(platform.ScopeNames(c.Scopes), ",")
	return template.Must(template.New("").Funcs(template.FuncMap{"quoted": quoted}).Parse(appConfigText)).Execute(out, c)
}

func topics(list ...platform.Topic) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = quoted(string(t))
	}
	return strings.Join(texts, ", ")
}

// quoted returns a basic string of TOML. Its escapes are those of Go for text without
// control characters.
func quoted(s string) string {
	return strconv.Quote(strings.Map(func(r rune) rune {
		if r < ' ' || !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}
