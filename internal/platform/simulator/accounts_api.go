package simulator

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// accountSchema is what of the Customer Account API is played.
var accountSchema = sync.OnceValue(func() *ast.Schema {
	return gqlparser.MustLoadSchema(&ast.Source{Name: "customer account API", Input: `
type Query { customer: Customer! }
type Customer { id: ID! displayName: String! firstName: String lastName: String emailAddress: CustomerEmailAddress }
type CustomerEmailAddress { emailAddress: String }
`})
})

// accountQuery answers a query of the Customer Account API. The access token stands in the header
// without a scheme before it.
func (s *Simulator) accountQuery(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil || req.Query == nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"errors": "Required parameter missing or invalid"})
		return
	}
	s.mu.Lock()
	var found *customer
	var kind FaultKind
	sh, err := s.accountStore(r)
	if err == nil {
		kind, _ = s.requestFault(sh.Domain, "customer accounts", *req.Query)
		g, known := s.signIns.access[r.Header.Get("Authorization")]
		if known && g.shop == sh.ID && s.opts.Clock.Now().Before(g.until) {
			found, _ = sh.customers.get(g.customer)
		}
	}
	var whole map[string]any
	if found != nil {
		whole = map[string]any{"customer": map[string]any{
			"id": gid.Of("Customer", found.ID), "displayName": found.displayName(), "firstName": found.FirstName, "lastName": found.LastName,
			"emailAddress": map[string]any{"emailAddress": found.Email},
		}}
	}
	s.mu.Unlock()
	if s.accountFault(w, kind) {
		return
	}
	if whole == nil {
		writeJSON(w, http.StatusUnauthorized, map[string]any{"errors": []map[string]string{{"message": "Invalid token"}}})
		return
	}
	doc, refused := gqlparser.LoadQuery(accountSchema(), *req.Query)
	if refused != nil || len(doc.Operations) != 1 {
		writeJSON(w, http.StatusOK, map[string]any{"errors": []map[string]string{{"message": "The query is not valid: " + refused.Error()}}})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"data": selected(whole, doc.Operations[0].SelectionSet)})
}

// selected returns what of an object was asked for.
func selected(whole map[string]any, set ast.SelectionSet) map[string]any {
	part := map[string]any{}
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if inner, ok := whole[s.Name].(map[string]any); ok {
				part[s.Alias] = selected(inner, s.SelectionSet)
			} else if s.Name == "__typename" {
				part[s.Alias] = s.ObjectDefinition.Name
			} else {
				part[s.Alias] = whole[s.Name]
			}
		case *ast.InlineFragment:
			for name, v := range selected(whole, s.SelectionSet) {
				part[name] = v
			}
		case *ast.FragmentSpread:
			for name, v := range selected(whole, s.Definition.SelectionSet) {
				part[name] = v
			}
		}
	}
	return part
}
