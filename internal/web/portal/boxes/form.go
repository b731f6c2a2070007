package boxes

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend/contractedit"
	"github.com/perennialhq/perennial/internal/domain/amend/terms"
	do "github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/web/portal/words"
)

// Fields of the form.
const (
	prefix = "quantity-" // of a variant, whose number follows
	button = "do"        // which button was pressed; none: the total is wanted
	search = "search"
	from   = "from" // the page of products, counted from 0
)

// Values of the button.
const (
	save = "save"
	find = "find" // the search: its first page
	turn = "turn-"
)

// chosen is what the fields of quantities hold, by variant: as the reader has typed it.
type chosen map[int64]string

// held returns what a box holds, as fields have it.
func held(b do.Box) chosen {
	is := make(chosen, len(b.Held))
	for _, p := range b.Held {
		is[p.ID] = strconv.Itoa(p.Quantity)
	}
	return is
}

// chosenOf returns what a form was sent with.
func chosenOf(r *http.Request) chosen {
	is := make(chosen)
	for name, values := range r.PostForm {
		variant, err := strconv.ParseInt(strings.TrimPrefix(name, prefix), 10, 64)
		if strings.HasPrefix(name, prefix) && err == nil && len(values) > 0 {
			is[variant] = values[0]
		}
	}
	return is
}

// items returns the products that are wanted, by variant. An empty field is none.
func (c chosen) items() ([]contractedit.BoxItem, error) {
	var want []contractedit.BoxItem
	for variant, typed := range c {
		n, err := strconv.Atoi(typed)
		switch {
		case typed == "" || err == nil && n == 0:
			continue
		case err != nil || n < 0 || n > terms.MaxQuantity:
			return nil, fault.New(fault.Invalid, "quantities are whole numbers from 0 to %d", terms.MaxQuantity).Code("boxQuantity").Field(prefix + strconv.FormatInt(variant, 10))
		}
		want = append(want, contractedit.BoxItem{Variant: variant, Quantity: n})
	}
	slices.SortFunc(want, func(a, b contractedit.BoxItem) int { return int(a.Variant - b.Variant) })
	return want, nil
}

// askedIn returns which products a form asks to see.
func askedIn(r *http.Request) do.ProductQuery {
	at := r.PostForm.Get(from)
	if pressed := r.PostForm.Get(button); strings.HasPrefix(pressed, turn) {
		at = strings.TrimPrefix(pressed, turn)
	} else if pressed == find {
		at = ""
	}
	return words.ProductQuery(r.PostForm.Get(search), at)
}
