package contracts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/page"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

// sizes are how many rows a page can have; the first one is the default.
var sizes = []int{20, 50, 100}

// defaultSort is the order of a list that names none.
const defaultSort = "created_at,desc"

// listQuery is what a list of contracts shows, as its address says it.
type listQuery struct {
	filters url.Values // by the names of filterParams; none is empty
	sort    page.Sort
	columns []string // keys, in the order of the table
	size    int
	page    int // from 0
	view    savedview.ID
	box     string // parameter whose value the search field shows; empty: it is empty
}

// parseQuery reads the query of a list. What the filters say is read by the search.
func parseQuery(given url.Values) (listQuery, error) {
	l := listQuery{filters: url.Values{}}
	for _, p := range filterParams {
		for _, value := range given[p.Name] {
			if value = strings.TrimSpace(value); value != "" {
				l.filters.Add(p.Name, value)
			}
		}
	}
	if words := strings.TrimSpace(given.Get("q")); words != "" {
		l.filters.Set(paramOf(words), words)
	}
	for _, name := range boxParams {
		if l.filters.Has(name) {
			l.box = name
			break
		}
	}
	var err error
	if l.page, l.size, l.sort, err = paging(given); err != nil {
		return l, err
	}
	if id := given.Get("view"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n <= 0 {
			return l, savedview.NotFound()
		}
		l.view = savedview.ID(n)
	}
	l.columns, err = parseColumns(given["columns"])
	return l, err
}

// boxParams are the parameters that the search field may stand for.
var boxParams = []string{"customerName", "orderName", "subscriptionContractId"}

// paramOf returns the parameter for words that are typed into the search field.
func paramOf(words string) string {
	switch {
	case strings.HasPrefix(words, "#"):
		return "orderName"
	case strings.HasPrefix(words, "gid://") || strings.Trim(words, "0123456789") == "":
		return "subscriptionContractId"
	}
	return "customerName"
}

// paging reads which page is asked for.
func paging(given url.Values) (number, size int, sort page.Sort, err error) {
	size = sizes[0]
	for name, into := range map[string]*int{"page": &number, "size": &size} {
		if text := given.Get(name); text != "" {
			if *into, err = strconv.Atoi(text); err != nil {
				return 0, 0, sort, fault.New(fault.Invalid, "parameter %q is %.20q, which is not a number", name, text).Field(name)
			}
		}
	}
	if !slices.Contains(sizes, size) {
		return 0, 0, sort, fault.New(fault.Invalid, "a page has 20, 50 or 100 rows").Field("size")
	}
	if number < 0 || number > maxPage {
		return 0, 0, sort, fault.New(fault.Invalid, "parameter \"page\" must be from 0 to %d", maxPage).Field("page")
	}
	text := given.Get("sort")
	if text == "" {
		text = defaultSort
	}
	request, err := web.Paging{Sort: []string{text}}.Request(web.List{Default: size, Max: size, Fields: contract.SortFields})
	if err != nil {
		return 0, 0, sort, err
	}
	if len(request.Sort) != 1 {
		return 0, 0, sort, fault.New(fault.Invalid, "the list is sorted by one column").Field("sort")
	}
	return number, size, request.Sort[0], nil
}

// maxPage is the last page that can be asked for.
const maxPage = 1_000_000

// sortText is how an address names an order.
func sortText(s page.Sort) string {
	if s.Desc {
		return s.Field + ",desc"
	}
	return s.Field + ",asc"
}

// settings returns the parameters of everything but the filters, the page and the view.
func (l listQuery) settings() url.Values {
	values := url.Values{}
	if text := sortText(l.sort); text != defaultSort {
		values.Set("sort", text)
	}
	if !slices.Equal(l.columns, defaultColumns()) {
		values.Set("columns", strings.Join(l.columns, ","))
	}
	if l.size != sizes[0] {
		values.Set("size", strconv.Itoa(l.size))
	}
	return values
}

// values returns the parameters of the list.
func (l listQuery) values() url.Values {
	values := l.settings()
	for name, list := range l.filters {
		values[name] = list
	}
	if l.view != 0 {
		values.Set("view", strconv.FormatInt(int64(l.view), 10))
	}
	if l.page > 0 {
		values.Set("page", strconv.Itoa(l.page))
	}
	return values
}

// path returns the address of the list, below the store's.
func (l listQuery) path() string { return address(l.values()) }

func address(values url.Values) string {
	if len(values) == 0 {
		return "/contracts"
	}
	return "/contracts?" + values.Encode()
}

// saved returns the query that a view keeps: all but the page.
func (l listQuery) saved() string {
	l.page, l.view = 0, 0
	return l.values().Encode()
}

// at returns the list on another page.
func (l listQuery) at(number int) listQuery {
	l.page = number
	return l
}

// without returns the list without some filters, from its first page.
func (l listQuery) without(names ...string) listQuery {
	kept := url.Values{}
	for name, values := range l.filters {
		if !slices.Contains(names, name) {
			kept[name] = values
		}
	}
	l.filters, l.page = kept, 0
	return l
}

// near returns the address of a page below the store's as the list names it, which is there too.
func near(v dashboard.Visit, path string) string {
	return strings.TrimPrefix(v.At(path), v.View.Base+"/")
}
