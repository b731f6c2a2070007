package analytics

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/money"
)

// chart is a drawing of 100 by 100 that stretches, with its words beside it.
type chart struct {
	ID, Title string // of the drawing: what is seen, in words
	Low       bool
	Even      bool // a word of X belongs below each bar
	Y, X      []string
	Paths     []path
	Legend    []key

	axis axis
}

type path struct{ Class, D string }

// key is a line of the legend, with a drawing of 1 by 1.
type key struct{ Class, Text, D string }

// filled is the drawing of what is filled with one colour.
const filled = "M0 0h1v1H0z"

// axis is the range of a chart's values, in steps.
type axis struct {
	bottom, top, step int64
}

// newAxis returns an axis with at most about five steps that holds the values and 0.
func newAxis(least, most int64) axis {
	least, most = min(least, 0), max(most, 0)
	if most == least {
		most = least + 4
	}
	step := int64(1)
	for n := 0; (most+step-1)/step-(least-step+1)/step > 5; n++ {
		switch n % 3 {
		case 0:
			step *= 2
		case 1:
			step = step / 2 * 5
		default:
			step *= 2
		}
	}
	return axis{(least - step + 1) / step * step, (most + step - 1) / step * step, step}
}

// y returns the height of a value.
func (a axis) y(v int64) float64 { return 100 * float64(a.top-v) / float64(a.top-a.bottom) }

// frame returns the words and lines of the axis.
func (a axis) frame(label func(int64) string) (words []string, lines []path) {
	for v := a.top; v >= a.bottom; v -= a.step {
		class := "g"
		if v == 0 {
			class = "g0"
		}
		words = append(words, label(v))
		lines = append(lines, path{class, fmt.Sprintf("M0 %sH100", short(a.y(v)))})
	}
	return words, lines
}

// short returns a coordinate.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

// line returns the path of values at equal distances.
func (a axis) line(values []int64) string {
	var b strings.Builder
	for i, v := range values {
		x := 100.0
		if len(values) > 1 {
			x = 100 * float64(i) / float64(len(values)-1)
		}
		command := byte('L')
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&b, "%c%s %s", command, short(x), short(a.y(v)))
	}
	return b.String()
}

// lines returns a chart of values over time, with an area below, and a second line to compare
// with; nil: none.
func lines(id, title string, values, other []int64, label func(int64) string, x []string) *chart {
	var least, most int64
	for _, v := range append(values[:len(values):len(values)], other...) {
		least, most = min(least, v), max(most, v)
	}
	a := newAxis(least, most)
	c := &chart{ID: id, Title: title, X: x}
	c.Y, c.Paths = a.frame(label)
	drawn := a.line(values)
	zero := short(a.y(0))
	c.Paths = append(c.Paths, path{"fa", drawn + "L100 " + zero + "L0 " + zero + "Z"})
	if other != nil {
		c.Paths = append(c.Paths, path{"l6", a.line(other)})
		c.Legend = []key{{"f1", "This period", filled}, {"f6", "A year earlier", filled}}
	}
	c.Paths = append(c.Paths, path{"l1", drawn})
	return c
}

// stack is one colour of stacked bars: a value for each bar.
type stack struct {
	class, name string
	values      []int64
}

// bars returns a chart of stacked bars. Negative values go down from 0.
func bars(id, title string, stacks []stack, label func(int64) string, x []string) *chart {
	n := len(x)
	up, down := make([]int64, n), make([]int64, n)
	for _, s := range stacks {
		for i, v := range s.values {
			up[i], down[i] = up[i]+max(v, 0), down[i]+min(v, 0)
		}
	}
	var least, most int64
	for i := range n {
		least, most = min(least, down[i]), max(most, up[i])
		up[i], down[i] = 0, 0
	}
	a := newAxis(least, most)
	c := &chart{ID: id, Title: title, X: x, Even: n <= 13, axis: a}
	c.Y, c.Paths = a.frame(label)
	width := 100 / float64(max(n, 1))
	for _, s := range stacks {
		var b strings.Builder
		for i, v := range s.values {
			from := &up[i]
			if v < 0 {
				from = &down[i]
			}
			if v != 0 {
				top, bottom := a.y(max(*from, *from+v)), a.y(min(*from, *from+v))
				fmt.Fprintf(&b, "M%s %sh%sv%sh-%sz", short(width*(float64(i)+.14)), short(top), short(width*.72), short(bottom-top), short(width*.72))
			}
			*from += v
		}
		if b.Len() > 0 {
			c.Paths = append(c.Paths, path{s.class, b.String()})
		}
		c.Legend = append(c.Legend, key{s.class, s.name, filled})
	}
	return c
}

// band is the range in which a value probably lies.
type band struct{ low, high int64 }

// bands draws a line with two ends over each bar. Bands lie within the range of the bars.
func (c *chart) bands(list []band, name string) {
	width := 100 / float64(max(len(list), 1))
	var b strings.Builder
	for i, v := range list {
		if v.high == v.low {
			continue
		}
		left, middle := short(width*(float64(i)+.32)), short(width*(float64(i)+.5))
		top, bottom, across := short(c.axis.y(v.high)), short(c.axis.y(v.low)), short(width*.36)
		fmt.Fprintf(&b, "M%s %sh%sM%s %sh%sM%s %sV%s", left, top, across, left, bottom, across, middle, top, bottom)
	}
	if b.Len() > 0 {
		c.Paths = append(c.Paths, path{"halo", b.String()}, path{"band", b.String()}) // seen on every colour
		c.Legend = append(c.Legend, key{"band", name, "M.1 .1h.8M.1 .9h.8M.5 .1V.9"})
	}
}

// inMoney returns how the axis of amounts is labelled: without decimals that are 0.
func inMoney(c money.Currency) func(int64) string {
	return func(v int64) string {
		text := money.Amount{Minor: v, Currency: c}.String()
		if whole, fraction, has := strings.Cut(text, "."); has && strings.Trim(fraction, "0") == "" {
			text = whole
		}
		return grouped(text)
	}
}

func inNumbers(v int64) string { return grouped(fmt.Sprint(v)) }

// sampled returns at most about limit of the values, the last one among them.
func sampled(values []int64, limit int) []int64 {
	step := (len(values) + limit - 1) / limit
	if step <= 1 {
		return values
	}
	var list []int64
	for i := (len(values) - 1) % step; i < len(values); i += step {
		list = append(list, values[i])
	}
	return list
}

// spread returns at most n words of a list at equal distances, with the first and the last.
func spread(words []string, n int) []string {
	if len(words) <= n {
		return words
	}
	var list []string
	for i := range n {
		list = append(list, words[i*(len(words)-1)/(n-1)])
	}
	return list
}
