package pages

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/browsertest"
	"github.com/perennialhq/perennial/internal/domain/login"
)

// leaf returns a logo: a word of squares beside a round leaf, on nothing.
func leaf(t *testing.T) string {
	t.Helper()
	const w, h = 640, 128
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	ink := color.NRGBA{0x7b, 0x1f, 0x4b, 0xff}
	for y := range h {
		for x := range w {
			dx, dy := x-64, y-64
			letter := x > 150 && (x-150)%80 < 60 && y > 30 && y < 98 && !((x-150)%80 > 14 && (x-150)%80 < 46 && y > 48 && y < 80)
			if dx*dx+dy*dy < 60*60 && (dx+20)*(dx+20)+(dy-20)*(dy-20) > 30*30 || letter {
				m.SetNRGBA(x, y, ink)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// attach puts a file into the field for the logo.
func (v *visit) attach(name, file string) {
	v.t.Helper()
	browsertest.Eval[bool](v.tab, fmt.Sprintf(`(() => {
		const files = new DataTransfer();
		files.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		document.querySelector("#f-logo").files = files.files;
		return true;
	})()`, file, name))
}

// loaded checks that the store's logo is shown, and that it is the only picture of its kind.
func (v *visit) loaded(alt string) {
	v.t.Helper()
	got := browsertest.Eval[string](v.tab, `(async () => { const logo = document.querySelector("img.logo"); await logo.decode(); return logo.naturalWidth + " " + logo.alt; })()`)
	if got != "512 "+alt {
		v.t.Errorf("%s: the logo is %q, want 512 pixels wide and %q", v.of, got, alt)
	}
}

func TestMerchantDesignsPortalInTheBrowser(t *testing.T) {
	t.Parallel()
	s, browser := open(t), browsertest.Start(t)
	m := s.manifest
	at := s.Dashboard + "/admin/stores/" + login.Handle(m.Shop) + "/design"
	v := &visit{t: t, tab: browser.Tab(t), of: "dashboard design"}
	v.signIn(s, m)
	v.open("default", at, http.StatusOK)
	inside := func(number int) string {
		return browsertest.Eval[string](v.tab, fmt.Sprintf(`(() => {
			const [home, skip] = document.querySelectorAll(".looks figure")[%d].querySelectorAll("iframe");
			const fits = [home, skip].every((f) => f.contentDocument.documentElement.scrollHeight <= f.clientHeight);
			const style = (f, selector) => f.contentWindow.getComputedStyle(f.contentDocument.querySelector(selector)).backgroundColor;
			return [home.contentDocument.querySelector("h1").textContent, fits, style(skip, ".btn.main"), style(home, "body")].join();
		})()`, number))
	}
	if got := inside(0) + " " + inside(1); got != "Hello, Ada,true,rgb(47, 107, 74),rgb(248, 245, 239) Hello, Ada,true,rgb(132, 193, 156),rgb(23, 20, 17)" {
		t.Errorf("the samples show %s", got)
	}

	v.fill("#f-colour", "c2185b")
	v.fill("#f-corners", "round")
	v.fill("#f-font", "rounded")
	v.fill("#f-alt", hostile)
	v.attach("logo.png", leaf(t))
	v.click("preview", "button[value=preview]", http.StatusOK)
	v.says("Nothing was saved.")
	v.says("On dark pages, links are drawn lighter than your colour so that they can be read:")
	if got := inside(0); !strings.HasSuffix(got, "rgb(194, 24, 91),rgb(248, 245, 239)") {
		t.Errorf("the preview shows %s", got)
	}
	v.attach("logo.svg", base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="document.title='hit'"/>`)))
	v.click("svg refused", "button[value=save]", http.StatusUnprocessableEntity)
	v.says("An SVG file can contain scripts, so it is not accepted: export the logo as PNG.")
	v.attach("large.png", base64.StdEncoding.EncodeToString(make([]byte, 3<<20)))
	v.click("large refused", "button[value=save]", http.StatusRequestEntityTooLarge)
	v.says("The file has more than 2 MB: choose a smaller one.")
	v.attach("logo.png", leaf(t))
	v.click("saved", "button[value=save]", http.StatusOK)
	v.says("The design was saved.")
	if title := browsertest.Eval[string](v.tab, "document.title"); title == "hit" {
		t.Error("a merchant's text runs as script")
	}

	customer := &visit{t: t, tab: browser.Tab(t), of: "portal designed"}
	customer.open("sign in", s.portal+"/signin", http.StatusOK)
	customer.loaded(hostile)
	customer.tab.Open(s.Storefront)
	customer.tab.Submit("[name=customer_id]", "7001")
	customer.open("home at the store", s.Storefront+"/apps/subscriptions/cp", http.StatusOK)
	customer.loaded(hostile)
	if title := browsertest.Eval[string](customer.tab, "document.title"); title == "hit" {
		t.Error("a merchant's text runs as script in the portal")
	}
	if got := browsertest.Eval[string](customer.tab, `getComputedStyle(document.documentElement).getPropertyValue("--fill")`); got != "#c2185b" && got != "#ec93a7" {
		t.Errorf("buttons are %s", got)
	}

	v.open("reset asked", at+"/reset", http.StatusOK)
	v.click("reset", "main button.dan", http.StatusOK)
	v.says("The design was reset.")

	bare := &visit{t: t, tab: browser.Tab(t), of: "dashboard design without scripts"}
	bare.tab.Scripts(false)
	bare.signIn(s, m)
	bare.tab.Open(at)
	bare.fill("#f-picked", "#ffd400")
	if status := bare.tab.Click("button[value=preview]"); status != http.StatusOK {
		t.Errorf("the preview without scripts answers %d", status)
	}
	bare.says("Links are drawn darker than your colour so that they can be read: 1.2 to 1 becomes 4.5 to 1.")
}
