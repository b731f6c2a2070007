package analytics

import (
	"strings"
	"testing"
)

func TestAxisHoldsValuesInFewRoundSteps(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		least, most int64
		want        axis
	}{
		{0, 0, axis{0, 4, 1}},
		{0, 8, axis{0, 8, 2}},
		{0, 948_200, axis{0, 1_000_000, 200_000}},
		{-61_000, 84_000, axis{-100_000, 100_000, 50_000}},
		{-3, 0, axis{-3, 0, 1}},
		{0, 1, axis{0, 1, 1}},
		{0, 9_000_000_000_000, axis{0, 10_000_000_000_000, 2_000_000_000_000}},
	} {
		if got := newAxis(row.least, row.most); got != row.want {
			t.Errorf("the axis of %d to %d is %+v, want %+v", row.least, row.most, got, row.want)
		}
	}
}

func TestBarsStackFromZero(t *testing.T) {
	t.Parallel()
	c := bars("x", "y", []stack{{"f1", "a", []int64{2, 0}}, {"f2", "b", []int64{2, 0}}, {"f5", "c", []int64{-4, -1}}}, inNumbers, []string{"Jan", "Feb"})
	want := map[string]string{"f1": "M7 25h36v25h-36z", "f2": "M7 0h36v25h-36z", "f5": "M7 50h36v50h-36zM57 50h36v12.5h-36z"}
	for _, p := range c.Paths {
		if d, has := want[p.Class]; has {
			if p.D != d {
				t.Errorf("%s is %s, want %s", p.Class, p.D, d)
			}
			delete(want, p.Class)
		}
	}
	if len(want) != 0 || strings.Join(c.Y, " ") != "4 2 0 −2 −4" {
		t.Errorf("missing %v, with the words %v", want, c.Y)
	}
}

func TestBandsLieOverTheirBars(t *testing.T) {
	t.Parallel()
	c := bars("x", "y", []stack{{"f1", "a", []int64{4, 0, 2}}}, inNumbers, []string{"1", "2", "3"})
	c.bands([]band{{1, 4}, {0, 0}, {0, 2}}, "Band")
	last := len(c.Paths) - 1
	want := path{"band", "M10.67 0h12M10.67 75h12M16.67 0V75" + "M77.33 50h12M77.33 100h12M83.33 50V100"}
	if c.Paths[last] != want || c.Legend[1].Class != "band" || c.Legend[1].Text != "Band" {
		t.Errorf("the band is %+v with the legend %+v, want %+v", c.Paths[last], c.Legend, want)
	}
	none := bars("x", "y", []stack{{"f1", "a", []int64{0}}}, inNumbers, []string{"1"})
	if none.bands([]band{{}}, "Band"); none.Paths[len(none.Paths)-1].Class == "band" || len(none.Legend) != 1 {
		t.Errorf("a band of nothing is drawn: %+v", none)
	}
}

func TestNumbersAreShownWithTheirSigns(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		amount(123_456_789, "USD").Text: "1,234,567.89", amount(-99, "USD").Text: minus + "0.99", amount(1234, "JPY").Text: "1,234",
		signed(amount(5, "USD")).Text: "+0.05", signed(amount(0, "USD")).Text: "0.00", signed(count(-7)).Text: minus + "7", signed(count(7)).Raw: "7",
		share(1, 3).Text: "33.3 %", share(0, 0).Text: "–", share(2, 3).Raw: "66.7", whole(1, 200): "0.5", whole(995, 1000): "100", trend(100, 143): "rose 43 %",
		trend(100, 98): "fell 2.0 %", trend(0, 5): "grew from 0", trend(5, 5): "is unchanged",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
