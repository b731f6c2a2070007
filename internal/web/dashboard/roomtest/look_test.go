package roomtest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/dashboardtest"
	"github.com/perennialhq/perennial/internal/web/dashboard/look"
)

const lookPath = dashboardtest.At + "/design"

// lookSite is a dashboard with the room look.
type lookSite struct {
	*dashboardtest.Site
	designs *design.Service
}

// lookSamples say what would be drawn.
type lookSamples struct{}

// Sample returns a page that says so.
func (lookSamples) Sample(_ context.Context, _ shop.Shop, d design.Design, logo []byte, dark bool) ([]string, string, error) {
	return []string{fmt.Sprintf("<i>%s %s %s %d×%d %q, dark %t, %d bytes</i>", d.Colour, d.Corners, d.Font, d.Logo.Width, d.Logo.Height, d.Logo.Alt, dark, len(logo))}, "a{}", nil
}

func openLook(t *testing.T) lookSite {
	t.Helper()
	var designs *design.Service
	s := dashboardtest.Open(t, func(s *dashboardtest.Site, o *dashboard.Options) {
		designs = &design.Service{Store: s.DB.PortalDesigns(), Clock: s.Clock}
		o.Rooms = append(o.Rooms, look.New(look.Options{Designs: designs, Samples: lookSamples{}}))
	})
	s.SignIn(dashboardtest.Owner)
	return lookSite{s, designs}
}

// upload sends the form with a file; nil: none was chosen.
func (s lookSite) upload(file []byte, fields ...string) dashboardtest.Page {
	s.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			s.Fatal(err)
		}
	}
	name := ""
	if file != nil {
		name = `logo".png`
	}
	w, err := form.CreateFormFile("logo", name)
	if err == nil {
		_, err = w.Write(file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		s.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+lookPath, &b)
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Content-Type", form.FormDataContentType())
	return s.Do(req)
}

// stored checks the first store's design.
func (s lookSite) stored(want design.Design) design.Design {
	s.Helper()
	got, err := s.designs.Design(s.Context(), s.First.ID)
	compared := got
	compared.UpdatedAt, compared.Logo.Hash = want.UpdatedAt, want.Logo.Hash
	if diff := cmp.Diff(want, compared); err != nil || diff != "" {
		s.Errorf("the design: %v\n%s", err, diff)
	}
	return got
}

// picture returns a PNG of one colour.
func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(w), 0x40, 0x90, 0xff})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var pictureField = regexp.MustCompile(`name="picture" value="([^"]+)"`)

func TestDesignIsSavedAndReset(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	s.Want(s.Get(lookPath), http.StatusOK, `value="#2f6b4a"`, `<option value="soft" selected>`, `<option value="serif" selected>`, "&lt;i&gt;#2f6b4a soft serif 0×0", "dark true, 0 bytes")
	s.Want(s.upload(picture(t, 200, 50), "seen", "0", "colour", "C2185B", "corners", "round", "font", "theme", "inTheme", "on", "alt", " Tee ", "do", "save"),
		http.StatusOK, "The design was saved.", `value="#c2185b"`, "round theme 200×50 &#34;Tee&#34;", "Reset to default", "Remove the logo", "checked")
	is := s.stored(design.Design{Colour: "#c2185b", Corners: design.Round, Font: design.Theme, InTheme: true, Logo: design.Logo{Width: 200, Height: 50, Alt: "Tee"}, Version: 1})

	// The logo stays when the form brings none, and the one before stays for the pages that are open.
	s.Want(s.upload(nil, "seen", "1", "colour", "", "corners", "soft", "font", "serif", "do", "save"), http.StatusOK, "The design was saved.", `value="#2f6b4a"`, "200×50")
	s.stored(design.Design{Logo: design.Logo{Width: 200, Height: 50}, Version: 2})
	s.Want(s.upload(picture(t, 60, 60), "seen", "2", "corners", "soft", "font", "serif", "do", "save"), http.StatusOK, "60×60")
	if _, err := s.designs.Logo(t.Context(), s.First.ID, is.Logo.Hash); err != nil {
		t.Errorf("the logo before: %v", err)
	}
	s.Want(s.Get(lookPath+"/reset"), http.StatusOK, "Your logo is deleted.", `name="seen" value="3"`)
	s.Want(s.Post(lookPath+"/reset", "seen", "2"), http.StatusUnprocessableEntity, "Another user has changed the design")
	s.Want(s.Post(lookPath+"/reset", "seen", "3"), http.StatusOK, "The design was reset.", "0×0")
	s.stored(design.Design{Version: 4})
	if _, err := s.designs.Logo(t.Context(), s.First.ID, is.Logo.Hash); !fault.Is(err, fault.NotFound) {
		t.Errorf("the logo before the one before: %v", err)
	}
	if p := s.Get(lookPath); strings.Contains(p.Text, "Reset to default") {
		t.Error("the default can be reset")
	}

	list, _, err := s.DB.Entries(t.Context(), s.First.ID, nil, page.Request{Size: 50})
	var infos []string
	for _, e := range list {
		if e.EntityType == activity.EntityCustomerPortalSettings && e.Actor.By == dashboardtest.Owner {
			infos = append(infos, e.Info)
		}
	}
	if err != nil || len(infos) != 4 || !slices.ContainsFunc(infos, func(info string) bool {
		return strings.HasPrefix(info, `{"from":{},"to":{"colour":"#c2185b","corners":"round","font":"theme","inTheme":true,"logo":{"hash":"`)
	}) {
		t.Errorf("the log has %q (%v)", infos, err)
	}
}

func TestPreviewKeepsPictureUntilItIsSaved(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	file := picture(t, 1024, 256)
	p := s.upload(file, "seen", "0", "colour", "#2f6b4a", "was", "#2f6b4a", "picked", "#ffd400", "picked-was", "#2f6b4a", "corners", "square", "font", "system", "do", "preview")
	s.Want(p, http.StatusOK, "Nothing was saved.", "#ffd400 square system 512×128", "which is not saved yet", "Links are drawn darker than your colour so that they can be read: 1.2 to 1 becomes 4.5 to 1.")
	s.stored(design.Design{})
	kept := pictureField.FindStringSubmatch(p.Text)
	if kept == nil {
		t.Fatal("the form has no picture")
	}
	// Base64 has nothing that HTML escapes but +.
	s.Want(s.upload(nil, "seen", "0", "colour", "#ffd400", "corners", "square", "font", "system", "picture", strings.ReplaceAll(kept[1], "&#43;", "+"), "do", "save"), http.StatusOK, "The design was saved.")
	is := s.stored(design.Design{Colour: "#ffd400", Corners: design.Square, Font: design.System, Logo: design.Logo{Width: 512, Height: 128}, Version: 1})
	want, err := design.ReadPicture(file)
	if err != nil || want.Hash != is.Logo.Hash {
		t.Errorf("the logo is %s, want %s (%v)", is.Logo.Hash, want.Hash, err)
	}
	s.Want(s.upload(nil, "seen", "1", "corners", "soft", "font", "serif", "remove", "on", "do", "preview"), http.StatusOK, "0 bytes")
	s.Want(s.upload(nil, "seen", "1", "corners", "soft", "font", "serif", "remove", "on", "do", "save"), http.StatusOK)
	s.stored(design.Design{Version: 2})
}

func TestFormThatIsRefusedKeepsWhatWasEntered(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	bomb := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\xc3\x50\x00\x00\xc3\x50\x08\x06\x00\x00\x00") // 50,000 pixels wide and high
	bomb = binary.BigEndian.AppendUint32(bomb, crc32.ChecksumIEEE(bomb[12:]))
	for name, row := range map[string]struct {
		file   []byte
		field  string
		value  string
		status int
		says   string
	}{
		"no colour":             {nil, "colour", "<b>red</b>", 422, "is not a colour: write # and six digits"},
		"no corners":            {nil, "corners", "wavy", 422, "does not name corners"},
		"no font":               {nil, "font", "Comic Sans", 422, "is not a font of the portal"},
		"a theme without it":    {nil, "font", "theme", 422, "needs the portal inside your theme"},
		"a long text":           {nil, "alt", strings.Repeat("ä", 101), 422, "has at most 100 characters, and this one has 101"},
		"a text of two lines":   {nil, "alt", "a\nb", 422, "must be one line"},
		"no picture":            {[]byte("<b>hello</b>"), "", "", 422, "The file is not a picture that can be read: upload a PNG"},
		"an empty file":         {[]byte{}, "", "", 422, "The file is not a picture"},
		"an SVG":                {[]byte("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"), "", "", 422, "An SVG file can contain scripts"},
		"an image bomb":         {bomb, "", "", 422, "50000 × 50000 pixels"},
		"3 MB":                  {make([]byte, 3<<20), "", "", 413, "The file has more than 2 MB: choose a smaller one."},
		"a picture that is not": {nil, "picture", "%%%", 422, "The file is not a picture"},
		"another version":       {nil, "seen", "7", 422, "Another user has changed the design"},
	} {
		fields := []string{"seen", "0", "colour", "#112233", "corners", "round", "font", "system", "alt", "Kept & shown", "do", "save"}
		if i := slices.Index(fields, row.field); i >= 0 {
			fields[i+1] = row.value
		} else if row.field != "" {
			fields = append(fields, row.field, row.value)
		}
		p := s.upload(row.file, fields...)
		if p.Status != row.status || !strings.Contains(p.Text, row.says) || strings.Contains(p.Text, "<b>") {
			_, shown, _ := strings.Cut(p.Text, "<main")
			t.Errorf("%s: %d, want %d and %q:\n%s", name, p.Status, row.status, row.says, shown)
		}
		if row.field != "alt" && !strings.Contains(p.Text, "Kept &amp; shown") || row.field != "colour" && !strings.Contains(p.Text, `value="#112233"`) {
			t.Errorf("%s: the form has lost what was entered", name)
		}
	}
	s.Want(s.upload(make([]byte, 17<<20), "seen", "0"), http.StatusRequestEntityTooLarge, "The form has more than 16 MB")
	s.Want(s.upload(nil, "seen", "0", "alt", strings.Repeat("x", 1<<20)), http.StatusRequestEntityTooLarge, "beside its file")
	s.Want(s.upload(nil, "seen", "0", "alt", "a\x00b"), http.StatusBadRequest)
	s.stored(design.Design{})
}

func TestTextForLogoIsNeverHTML(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	p := s.upload(picture(t, 20, 20), "seen", "0", "corners", "soft", "font", "serif", "alt", `"><script>alert(1)</script>`, "do", "save")
	s.Want(p, http.StatusOK, "The design was saved.", `value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`)
	if strings.Contains(p.Text, "<script>alert") {
		t.Error("the text is HTML")
	}
}

func TestStyleSheetOfSamplesIsLetThrough(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	sum := sha256.Sum256([]byte("a{}"))
	policy := s.Get(lookPath).Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "style-src 'self' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
	if policy := s.Get(lookPath + "/reset").Header.Get("Content-Security-Policy"); strings.Contains(policy, "sha256") {
		t.Errorf("another page lets it through, too: %s", policy)
	}
}

func TestOnlyOwnersAndAdminsChangeDesign(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	if _, err := s.designs.Save(t.Context(), s.Second.ID, design.Draft{Design: design.Design{Colour: "#abcdef"}}, activity.Operator); err != nil {
		t.Fatal(err)
	}
	s.Add("sue@staff.example", staff.Support)
	s.SignIn("sue@staff.example")
	p := s.Get(lookPath)
	s.Want(p, http.StatusOK, "An owner or admin of the store can change this.")
	if strings.Contains(p.Text, "#abcdef") || strings.Contains(p.Text, "Save design") {
		t.Error("another store's design is shown, or may be saved")
	}
	s.Want(s.upload(picture(t, 9, 9), "seen", "0", "do", "save"), http.StatusForbidden)
	s.Want(s.Get(lookPath+"/reset"), http.StatusForbidden)
	s.Want(s.Post(lookPath+"/reset", "seen", "0"), http.StatusForbidden)
	s.Want(s.Get(strings.Replace(lookPath, "first", "second", 1)), http.StatusNotFound)
	s.stored(design.Design{})

	s.SignIn(dashboardtest.Owner)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+lookPath, strings.NewReader("seen=0&colour=%23111111&do=save"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	s.Want(s.Do(req), http.StatusForbidden, "Another site sent this form")
	s.stored(design.Design{})
}

// In the platform's admin a form brings a session token as its last field.
func TestFormInPlatformsAdminBringsTokenAfterFile(t *testing.T) {
	t.Parallel()
	s := openLook(t)
	send := func(token string) dashboardtest.Page {
		t.Helper()
		s.Browser = s.NewBrowser()
		body := "--x\r\nContent-Disposition: form-data; name=\"colour\"\r\n\r\n#123456\r\n--x\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"a.png\"\r\n\r\n" +
			string(picture(t, 9, 9)) + "\r\n--x\r\nContent-Disposition: form-data; name=\"do\"\r\n\r\nsave\r\n--x\r\nContent-Disposition: form-data; name=\"id_token\"\r\n\r\n" + token + "\r\n--x--\r\n"
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+strings.Replace(lookPath, "first", "second", 1)+"?embedded=1", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		return s.Do(req)
	}
	s.Want(send("forged"), http.StatusUnauthorized)
	s.Want(send("second/71"), http.StatusOK, `id="bring"`) // the page after it gets a token of its own
	if d, err := s.designs.Design(t.Context(), s.Second.ID); err != nil || d.Colour != "#123456" || d.Logo.Width != 9 {
		t.Errorf("the design is %+v (%v)", d, err)
	}
}
