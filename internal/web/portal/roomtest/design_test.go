package roomtest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/web/portal"
	"github.com/perennialhq/perennial/internal/web/portal/portaltest"
)

// logoOf stores a design with a logo for a store, and returns the design and the picture.
func logoOf(t *testing.T, s *portaltest.Site, of shop.Shop, d design.Design, width int) (design.Design, design.Picture) {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, 20))
	for x := range width {
		m.SetNRGBA(x, 10, color.NRGBA{0x20, 0x40, 0x90, 0xff})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	p, err := design.ReadPicture(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if d, err = s.Designs.Save(t.Context(), of.ID, design.Draft{Design: d, Picture: &p}, activity.Operator); err != nil {
		t.Fatal(err)
	}
	return d, p
}

func TestLogoIsServedAtBothPlacesForGood(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	d, p := logoOf(t, s, s.First, design.Design{Logo: design.Logo{Alt: `"><script>alert(1)</script>`}}, 80)
	_, theirs := logoOf(t, s, s.Second, design.Design{}, 60)
	s.Look = portal.Look{Name: "Tea & <b>more", Design: d}

	page := s.Get(portaltest.At + "/signin")
	s.Want(page, http.StatusOK, `<img class="logo" src="/p/first/logo/`+p.Hash+`.png" alt="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" width="80" height="20">`)
	if strings.Contains(page.Text, "<script>alert") || strings.Contains(page.Text, "Tea &amp; &lt;b&gt;more</a>") {
		t.Errorf("the text is HTML, or the name stands beside the logo:\n%s", page.Text)
	}
	s.Want(s.Through(portaltest.Maya, "", nil), http.StatusOK, `src="/apps/subscriptions/cp/logo/`+p.Hash+`.png"`)
	for name, answer := range map[string]portaltest.Page{
		"on our domain": s.Get(portaltest.At + "/logo/" + p.Hash + ".png"), "at the store": s.Through(portaltest.Maya, "/logo/"+p.Hash+".png", nil),
		"at the store without a customer": s.Through(0, "/logo/"+p.Hash+".png", nil),
	} {
		if answer.Status != http.StatusOK || answer.Text != string(p.PNG) || answer.Header.Get("Content-Type") != "image/png" ||
			answer.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %v", name, answer.Status, answer.Header)
		}
	}
	for _, file := range []string{theirs.Hash + ".png", p.Hash, p.Hash + ".gif", strings.ToUpper(p.Hash) + ".png", strings.Repeat("0", 32) + ".png", "..%2f.png", ".png"} {
		for _, answer := range []portaltest.Page{s.Get(portaltest.At + "/logo/" + file), s.Through(portaltest.Maya, "/logo/"+file, nil)} {
			if answer.Status != http.StatusNotFound || strings.HasPrefix(answer.Text, "\x89PNG") || answer.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d, %v", file, answer.Status, answer.Header)
			}
		}
	}
	if answer := s.Do(s.Request(http.MethodGet, s.Store.URL+portaltest.Proxied+"/logo/"+p.Hash+".png")); answer.Status != http.StatusUnauthorized {
		t.Errorf("at the store without a signature: %d", answer.Status)
	}

	s.Look = portal.Look{Name: "Tea & <b>more", Design: design.Design{Logo: design.Logo{Hash: `x" onerror="alert(1)`}}}
	s.Want(s.Get(portaltest.At+"/signin"), http.StatusOK, "Tea &amp; &lt;b&gt;more</a>")
	s.Look.Design.Logo = design.Logo{Hash: p.Hash}
	s.Want(s.Get(portaltest.At+"/signin"), http.StatusOK, `alt="Tea &amp; &lt;b&gt;more"`)
}

var styleElement = regexp.MustCompile(`<style>([^<]*)</style>`)

func TestDesignIsOneRuleThatThePolicyLetsThrough(t *testing.T) {
	t.Parallel()
	s, _ := openProxied(t)
	for name, row := range map[string]struct {
		is   design.Design
		want string // what the page's rule begins with; empty: there is none
	}{
		"the default":     {design.Design{}, ""},
		"a colour":        {design.Design{Colour: "#ffd400"}, ":root{--fill:#ffd400;--on:#171411;--link:#806a0b;--tint:#fff9e3;}@media (prefers-color-scheme:dark){:root{--fill:#ffd400;"},
		"square corners":  {design.Design{Corners: design.Square}, ":root{--r:0;"},
		"a theme's font":  {design.Design{Font: design.Theme}, ":root{--display:var(--font);}"},
		"what is unknown": {design.Design{Colour: "red}*{color:red", Corners: "x}", Font: "</style>"}, ":root{--fill:#2f6b4a;"},
	} {
		s.Look = portal.Look{Name: "First", Design: row.is}
		p := s.Get(portaltest.At + "/signin")
		var rule string
		if found := styleElement.FindStringSubmatch(p.Text); found != nil {
			rule = found[1]
		}
		sum := sha256.Sum256([]byte(rule))
		let := "style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
		if !strings.HasPrefix(rule, row.want) || (rule == "") != (row.want == "") || (rule != "") != strings.Contains(p.Header.Get("Content-Security-Policy"), let) {
			t.Errorf("%s: the rule is %q, and the policy %s", name, rule, p.Header.Get("Content-Security-Policy"))
		}
	}
	s.Look.Design = design.Design{Colour: "#ffd400", Font: design.Theme, InTheme: true}
	part := s.Through(portaltest.Maya, "", map[string][]string{"part": {"1"}})
	if found := styleElement.FindStringSubmatch(part.Text); found == nil || !strings.HasPrefix(found[1], ".portal{--fill:#ffd400;") || strings.Contains(found[1], ":root") ||
		!strings.Contains(found[1], "--font:var(--font-body-family,sans-serif);") {
		t.Errorf("in a theme the rule is %q", found)
	}
}

var customProperty = regexp.MustCompile(`--([a-z0-9]+):(#[0-9a-f]{6})`)

// What follows from a colour is computed for the pages of the style sheet.
func TestStyleSheetHasColoursThatDesignsAreComputedFor(t *testing.T) {
	t.Parallel()
	sheet, err := os.ReadFile("../assets/portal.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, found := strings.Cut(string(sheet), "@media (prefers-color-scheme:dark){")
	if !found {
		t.Fatal("the style sheet has no dark pages")
	}
	dark, _, _ := strings.Cut(rest, "\n}\n")
	for name, page := range map[string]struct {
		rules string
		on    design.Page
	}{"light": {light, design.LightPage}, "dark": {dark, design.DarkPage}} {
		p := design.PaletteOf(design.DefaultColour, page.on)
		want := map[string]design.Colour{
			"bg": page.on.Ground, "card": page.on.Card, "well": page.on.Well, "ink": page.on.Ink, "ink2": page.on.Quiet, "fill": p.Fill, "on": p.On, "link": p.Link, "tint": p.Tint,
		}
		got := map[string]design.Colour{}
		for _, rule := range customProperty.FindAllStringSubmatch(page.rules, -1) {
			got[rule[1]] = design.Colour(rule[2])
		}
		for property, colour := range want {
			if got[property] != colour {
				t.Errorf("%s: --%s is %q, want %s", name, property, got[property], colour)
			}
		}
	}
}

func TestSampleNeedsNothingElse(t *testing.T) {
	t.Parallel()
	texts, err := portal.Texts()
	if err != nil {
		t.Fatal(err)
	}
	shown := portal.Room{Routes: []portal.Route{{Pattern: "GET ", Show: func(w http.ResponseWriter, _ *http.Request, v portal.Visit) error {
		return v.Answer(w, portal.Page{Name: "question", Title: "Sample", Content: portal.Question{Back: &portal.Crumb{}}})
	}}}}
	sampler, err := portal.NewSampler(portal.Options{Texts: texts, Clock: clock.NewManual(portaltest.Now)}, portal.SampleScreen{Room: shown, Pattern: "GET "})
	if err != nil {
		t.Fatal(err)
	}
	of := shop.Shop{Domain: "first.myshopify.com", TimeZone: "UTC"}
	d := design.Design{Colour: "#ffd400", Corners: design.Round, Logo: design.Logo{Width: 80, Height: 20}}
	for dark, want := range map[bool]string{false: "--bg:#f8f5ef", true: "--bg:#171411"} {
		pages, styles, err := sampler.Sample(t.Context(), of, d, []byte("\x89PNG"), dark)
		if err != nil || len(pages) != 1 {
			t.Fatalf("dark %t: %d screens (%v)", dark, len(pages), err)
		}
		page := pages[0]
		if !strings.Contains(page, "<style>"+styles+"</style>") || !strings.Contains(page, `src="data:image/png;base64,iVBORw=="`) || !strings.Contains(page, `alt="First"`) {
			t.Errorf("dark %t: the page is\n%s", dark, page)
		}
		if strings.Contains(page, "<link") || strings.Contains(page, "<script") || strings.Contains(styles, "prefers-color-scheme") || strings.Contains(styles, "url(") {
			t.Errorf("dark %t: the page needs more than it has:\n%s", dark, page)
		}
		last := strings.LastIndex(styles, want)
		if last < 0 || strings.LastIndex(styles, "--bg:") != last || !strings.Contains(styles, "--fill:#ffd400") || strings.Count(styles, "{") != strings.Count(styles, "}") {
			t.Errorf("dark %t: the styles are\n%s", dark, styles)
		}
	}
}
