package contracts

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/web"
	"github.com/perennialhq/perennial/internal/web/dashboard"
)

const (
	// maxWords is how many characters are searched for.
	maxWords = 200
	// found and foundBelow are how many contracts the page and the list below the field show.
	found, foundBelow = 20, 6
)

// hit is a contract that was found.
type hit struct {
	ID          contract.ID
	Name, About string
	Badge       *dashboard.Badge
}

// place is a page of the dashboard whose name contains the words.
type place struct{ Name, Section, Path string }

// findPage is what the search of the store shows.
type findPage struct {
	Words  string
	Hits   []hit
	Places []place
	All    string // full address of the list with the same search
	Count  string
	Empty  dashboard.Empty
}

// find searches the whole store. One contract that is named leads to its page. With part the
// results are a part of a page, for the list below the field.
func (m *room) find(w http.ResponseWriter, r *http.Request, v dashboard.Visit) error {
	words := strings.TrimSpace(r.URL.Query().Get("find"))
	if utf8.RuneCountInString(words) > maxWords {
		return fault.New(fault.Invalid, "at most %d characters are searched for", maxWords).Field("find")
	}
	if err := web.CheckText("the search", "find", words); err != nil {
		return err
	}
	part := r.URL.Query().Get("part") == "1"
	p := findPage{Words: words}
	if words != "" {
		limit := found
		if part {
			limit = foundBelow
		}
		list, exact, err := m.Directory.FindContracts(r.Context(), v.Shop.ID, numberOf(words), limit)
		if err != nil {
			return err
		}
		if exact && !part {
			return v.Go(w, "/contracts/"+strconv.FormatInt(int64(list[0].ID), 10), "")
		}
		p.Hits, p.Places = hits(list, v), places(words, v)
		p.All = v.At("/contracts?" + url.Values{"q": {words}}.Encode())
	}
	p.Count = dashboard.Count(len(p.Hits), "contract", "contracts") + ", " + dashboard.Count(len(p.Places), "page", "pages")
	if part {
		return v.Fragment(w, "found", p)
	}
	p.Empty = dashboard.Empty{Icon: "search", Title: "Nothing found", Text: "Search for a name, an e-mail address, an order such as #1001 or the number of a contract: at least three characters."}
	title := "Search"
	if words != "" {
		title = "Results for “" + words + "”"
	}
	return v.Answer(w, dashboard.Page{Name: "find", Title: title, Content: p})
}

// numberOf returns the number of a graph id of a contract, and other words as they are.
func numberOf(words string) string {
	if number, is := strings.CutPrefix(words, "gid://shopify/SubscriptionContract/"); is {
		return number
	}
	return words
}

func hits(list []contract.Contract, v dashboard.Visit) []hit {
	var found []hit
	for _, c := range list {
		h := hit{ID: c.ID, Name: c.Customer.Name, Badge: badge(c, v)}
		if h.Name == "" {
			h.Name = "Contract " + strconv.FormatInt(int64(c.ID), 10)
		}
		about := []string{strconv.FormatInt(int64(c.ID), 10)}
		for _, text := range []string{c.OriginOrderName, c.Customer.Email} {
			if text != "" {
				about = append(about, text)
			}
		}
		h.About = strings.Join(about, " · ")
		found = append(found, h)
	}
	return found
}

// places returns the pages of the navigation whose name, or that of their section, contains
// the words.
func places(words string, v dashboard.Visit) []place {
	words = strings.ToLower(words)
	var list []place
	for _, section := range v.View.Nav {
		if len(section.Pages) == 0 && strings.Contains(strings.ToLower(section.Name), words) {
			list = append(list, place{section.Name, "", v.At(section.Path)})
		}
		for _, page := range section.Pages {
			if strings.Contains(strings.ToLower(section.Name+" "+page.Name), words) {
				list = append(list, place{page.Name, section.Name, v.At(page.Path)})
			}
		}
	}
	return list
}
