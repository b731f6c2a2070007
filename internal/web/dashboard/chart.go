package dashboard

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Spark is a small chart without axes: how a figure went. Template "spark" shows it.
type Spark struct {
	Values []int64
	Label  string // says it in words
	Grave  bool   // the figure is bad when it is high
}

// Line returns the path of the line in a square of 100.
func (s Spark) Line() string {
	if len(s.Values) < 2 {
		return "M0 50L100 50"
	}
	low, high := slices.Min(s.Values), slices.Max(s.Values)
	var path strings.Builder
	for i, v := range s.Values {
		y := 50.0
		if high > low {
			y = 92 - 84*float64(v-low)/float64(high-low)
		}
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", command, 100*float64(i)/float64(len(s.Values)-1), y)
	}
	return path.String()
}

// Area returns the path of what is below the line.
func (s Spark) Area() string { return s.Line() + "L100 100L0 100Z" }

// Class returns that of the line.
func (s Spark) Class() template.HTMLAttr {
	if s.Grave {
		return `class="l2"`
	}
	return `class="l1"`
}
