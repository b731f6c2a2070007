package storefront

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// picture answers with a product's picture, an SVG that is drawn from what the product is.
func (s *Store) picture(w http.ResponseWriter, r *http.Request) {
	p, err := s.find(strings.TrimSuffix(r.PathValue("handle"), ".svg"))
	if err != nil {
		s.refused(w, r, err, s.showList)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_, _ = w.Write([]byte(Picture(p))) // the client is gone
}

// palette is the colours of a picture: ground, shade, body, label, ink.
type palette [5]string

var palettes = []palette{
	{"#efe4d3", "#d9c7ab", "#5b3a29", "#f4e9d8", "#2f1d13"},
	{"#dfeadf", "#c2d6c4", "#2f6b4a", "#eef5ec", "#163424"},
	{"#f3dfd6", "#e3c0b1", "#b5512e", "#fbeee8", "#5c2412"},
	{"#dde6f0", "#bccde0", "#2f5685", "#edf3fa", "#152c48"},
	{"#efe7f2", "#d8c6e0", "#6a4480", "#f7f1fa", "#331d40"},
	{"#f4ecc8", "#e4d492", "#a37a12", "#fcf7e3", "#4d3904"},
	{"#dcecec", "#b5d3d3", "#22676b", "#ebf6f6", "#0e3335"},
	{"#f2dfe4", "#e0bac5", "#9c3553", "#faeef1", "#4a1224"},
}

// shapes are what products of a type look like; %[3]s is the body, %[4]s the label, %[5]s
// the ink.
var shapes = map[string]string{
	"Coffee": `<path d="M118 96h164l18 30v196q0 18-18 18H118q-18 0-18-18V126z" fill="%[3]s"/><path d="M100 126h200v14H100z" fill="%[5]s" opacity=".45"/>` +
		`<rect x="128" y="178" width="144" height="112" rx="10" fill="%[4]s"/><ellipse cx="200" cy="234" rx="26" ry="36" fill="%[3]s" transform="rotate(28 200 234)"/>` +
		`<path d="M186 206q28 26 26 58" fill="none" stroke="%[4]s" stroke-width="6" stroke-linecap="round"/>`,
	"Tea": `<rect x="112" y="132" width="176" height="208" rx="14" fill="%[3]s"/><rect x="104" y="98" width="192" height="44" rx="12" fill="%[5]s"/>` +
		`<circle cx="200" cy="238" r="62" fill="%[4]s"/><path d="M200 282q-46-44 0-92 46 48 0 92z" fill="%[3]s"/><path d="M200 284v-70" stroke="%[4]s" stroke-width="5" stroke-linecap="round"/>`,
	"Pantry": `<path d="M132 122l68-34 68 34v218H132z" fill="%[3]s"/><path d="M132 122l68-34 68 34-68 20z" fill="%[5]s" opacity=".5"/><rect x="180" y="74" width="40" height="28" rx="6" fill="%[5]s"/>` +
		`<rect x="150" y="180" width="100" height="120" rx="10" fill="%[4]s"/><path d="M170 268q30-70 60 0z" fill="%[3]s"/><circle cx="200" cy="214" r="12" fill="%[3]s"/>`,
	"Pet food": `<path d="M110 92q90 22 180 0l12 240q-102 26-204 0z" fill="%[3]s"/><rect x="134" y="150" width="132" height="132" rx="66" fill="%[4]s"/>` +
		`<g fill="%[3]s"><ellipse cx="200" cy="234" rx="28" ry="23"/><circle cx="164" cy="206" r="12"/><circle cx="187" cy="188" r="12"/><circle cx="213" cy="188" r="12"/><circle cx="236" cy="206" r="12"/></g>`,
	"Pet care": `<path d="M108 152h184v170q0 18-18 18H126q-18 0-18-18z" fill="%[3]s"/><path d="M150 152v-34q0-26 26-26h48q26 0 26 26v34h-26v-30h-48v30z" fill="%[5]s"/>` +
		`<rect x="136" y="196" width="128" height="104" rx="10" fill="%[4]s"/><path d="M166 280v-52l16 14h36l16-14v52q-34 20-68 0z" fill="%[3]s"/>`,
	"Shaving": `<rect x="150" y="132" width="100" height="208" rx="20" fill="%[3]s"/><rect x="162" y="84" width="76" height="56" rx="12" fill="%[5]s"/>` +
		`<rect x="168" y="182" width="64" height="116" rx="8" fill="%[4]s"/><path d="M184 204h32M184 222h32M184 240h32" stroke="%[3]s" stroke-width="7" stroke-linecap="round"/>`,
	"Vitamins": `<rect x="124" y="140" width="152" height="200" rx="26" fill="%[3]s"/><rect x="138" y="86" width="124" height="58" rx="10" fill="%[5]s"/><rect x="124" y="190" width="152" height="104" fill="%[4]s"/>` +
		`<g transform="rotate(-35 200 242)"><rect x="156" y="222" width="88" height="40" rx="20" fill="%[3]s"/><path d="M200 222h24q20 0 20 20t-20 20h-24z" fill="%[5]s" opacity=".55"/></g>`,
	"Box": `<rect x="92" y="168" width="216" height="172" rx="10" fill="%[3]s"/><rect x="80" y="128" width="240" height="56" rx="10" fill="%[5]s"/><path d="M180 128h40v212h-40z" fill="%[4]s"/>` +
		`<path d="M200 128q-70-6-66-44 44-12 66 44zm0 0q70-6 66-44-44-12-66 44z" fill="none" stroke="%[4]s" stroke-width="14" stroke-linejoin="round"/>`,
	"Membership": `<rect x="76" y="124" width="248" height="164" rx="20" fill="%[3]s"/><rect x="76" y="158" width="248" height="32" fill="%[5]s" opacity=".55"/><circle cx="262" cy="236" r="26" fill="%[4]s"/>` +
		`<path d="M262 218l6 12 13 2-9 9 2 13-12-6-12 6 2-13-9-9 13-2z" fill="%[3]s"/><path d="M108 226h92M108 250h60" stroke="%[4]s" stroke-width="10" stroke-linecap="round"/>`,
	"": `<path d="M200 92l112 48v140l-112 60-112-60V140z" fill="%[3]s"/><path d="M88 140l112 52 112-52-112-48z" fill="%[5]s" opacity=".5"/><path d="M200 192v148" stroke="%[4]s" stroke-width="6"/>` +
		`<path d="M118 206l54 26v52l-54-28z" fill="%[4]s"/>`,
}

// Picture draws a product. The same product always looks the same.
func Picture(p simulator.Product) string {
	h := fnv.New32a()
	h.Write([]byte(p.Handle))
	c := palettes[h.Sum32()%uint32(len(palettes))]
	shape, known := shapes[p.Type]
	if !known {
		shape = shapes[""]
	}
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400">` +
		fmt.Sprintf(`<rect width="400" height="400" fill="%[1]s"/><ellipse cx="200" cy="344" rx="130" ry="18" fill="%[2]s"/>`+shape, c[0], c[1], c[2], c[3], c[4]) + `</svg>`
}
