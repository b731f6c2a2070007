package design

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Colour is a colour of sRGB as style sheets write it: "#2f6b4a".
type Colour string

func (c Colour) valid() bool {
	return len(c) == 7 && c[0] == '#' && strings.Trim(string(c[1:]), "0123456789abcdef") == ""
}

// ParseColour returns the colour that a person has typed: "2F6B4A" and "#2f6b4a" are one. Others
// are returned as they are, and Design.Check refuses them.
func ParseColour(text string) Colour {
	text = strings.ToLower(strings.TrimSpace(text))
	if text != "" && !strings.HasPrefix(text, "#") && Colour("#"+text).valid() {
		text = "#" + text
	}
	return Colour(text)
}

// bytes returns the channels. Black stands for what is not a colour.
func (c Colour) bytes() (b [3]byte) {
	if c.valid() {
		n, _ := strconv.ParseUint(string(c[1:]), 16, 32) // valid has looked at it
		b = [3]byte{byte(n >> 16), byte(n >> 8), byte(n)}
	}
	return b
}

// rgb returns the channels, each from 0 to 1.
func (c Colour) rgb() (channels [3]float64) {
	for i, b := range c.bytes() {
		channels[i] = float64(b) / 255
	}
	return channels
}

// ofRGB returns the colour of channels. What a screen cannot show is cut off.
func ofRGB(channels [3]float64) Colour {
	var b [3]int
	for i, x := range channels {
		b[i] = int(math.Round(255 * min(1, max(0, x))))
	}
	return Colour(fmt.Sprintf("#%02x%02x%02x", b[0], b[1], b[2]))
}

// linear undoes the transfer function of sRGB (IEC 61966-2-1).
func linear(x float64) float64 {
	if x <= 0.04045 {
		return x / 12.92
	}
	return math.Pow((x+0.055)/1.055, 2.4)
}

func gamma(x float64) float64 {
	if x <= 0.0031308 {
		return 12.92 * x
	}
	return 1.055*math.Pow(x, 1/2.4) - 0.055
}

// linears are the linear values of the channels that a screen can show.
var linears = func() (list [256]float64) {
	for i := range list {
		list[i] = linear(float64(i) / 255)
	}
	return list
}()

// luminance is the relative luminance of WCAG 2.2.
func (c Colour) luminance() float64 {
	b := c.bytes()
	return 0.2126*linears[b[0]] + 0.7152*linears[b[1]] + 0.0722*linears[b[2]]
}

// Contrast returns the contrast ratio of two colours, from 1 to 21, as WCAG 2.2 defines it
// (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
func Contrast(a, b Colour) float64 {
	light, dark := a.luminance(), b.luminance()
	return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
}

// mix returns a colour with a share of another in it, as color-mix(in srgb) does.
func (c Colour) mix(with Colour, share float64) Colour {
	a, b := c.rgb(), with.rgb()
	for i := range a {
		a[i] += share * (b[i] - a[i])
	}
	return ofRGB(a)
}

// tone is a colour in OKLCH without its hue: in it, lightness and chroma change and the hue stays
// (https://www.w3.org/TR/css-color-4/#ok-lab).
type tone struct{ light, chroma, a, b float64 } // a and b are of length 1

// tone returns the colour in OKLCH.
func (c Colour) tone() tone {
	rgb := c.rgb()
	r, g, b := linear(rgb[0]), linear(rgb[1]), linear(rgb[2])
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	x := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	y := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s
	t := tone{light: 0.2104542553*l + 0.7936177850*m - 0.0040720468*s, chroma: math.Hypot(x, y)}
	if t.chroma < 1e-4 { // grey has no hue
		t.chroma = 0
		return t
	}
	t.a, t.b = x/t.chroma, y/t.chroma
	return t
}

// colour returns the tone as a screen shows it: with less chroma, if it has more than fits.
func (t tone) colour() Colour {
	for chroma := t.chroma; ; chroma -= 0.005 {
		rgb := t.linear(max(0, chroma))
		if chroma <= 0 || min(rgb[0], rgb[1], rgb[2]) > -1e-3 && max(rgb[0], rgb[1], rgb[2]) < 1+1e-3 {
			for i, x := range rgb {
				rgb[i] = gamma(max(0, x))
			}
			return ofRGB(rgb)
		}
	}
}

// linear returns the channels before the transfer function.
func (t tone) linear(chroma float64) [3]float64 {
	a, b := chroma*t.a, chroma*t.b
	cube := func(x float64) float64 { return x * x * x }
	l, m, s := cube(t.light+0.3963377774*a+0.2158037573*b), cube(t.light-0.1055613458*a-0.0638541728*b), cube(t.light-0.0894841775*a-1.2914855480*b)
	return [3]float64{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	}
}
