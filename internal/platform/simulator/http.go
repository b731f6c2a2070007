package simulator

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"

	"github.com/perennialhq/perennial/internal/platform/schema"
)

const maxRequest = 4 << 20 // bytes of a request's body

// request is a GraphQL request.
type request struct {
	Query         *string         `json:"query"`
	Variables     json.RawMessage `json:"variables"`
	OperationName string          `json:"operationName"`
}

// answer is a GraphQL answer.
type answer struct {
	Data       json.RawMessage `json:"data,omitempty"`
	Errors     []apiError      `json:"errors,omitempty"`
	Extensions *costExtension  `json:"extensions,omitempty"`
}

type costExtension struct {
	Cost costReport `json:"cost"`
}

var nullData = json.RawMessage("null")

// Handler answers POST /admin/api/{version}/graphql.json. The access token says
// which store is meant, and which app asks.
func (s *Simulator) Handler() http.Handler {
	version := regexp.MustCompile(`^(\d{4}-\d{2}|unstable)$`)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /admin/api/{version}/graphql.json", func(w http.ResponseWriter, r *http.Request) {
		if !version.MatchString(r.PathValue("version")) {
			writeJSON(w, http.StatusNotFound, map[string]string{"errors": "Not Found"})
			return
		}
		s.serve(w, r)
	})
	mux.HandleFunc("POST /admin/oauth/access_token", s.serveToken)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"errors": "Not Found"})
	})
	return s.withAccounts(atStore(mux))
}

// atStore also answers below /store/{shop}, which stands for the store's own domain.
func atStore(next http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/store/{shop}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
		http.StripPrefix("/store/"+r.PathValue("shop"), next).ServeHTTP(w, r)
	})
	mux.Handle("/", next)
	return mux
}

func (s *Simulator) serve(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("X-Shopify-Access-Token")
	if !s.opensAPI(token) {
		writeJSON(w, http.StatusUnauthorized, map[string]string{"errors": "[API] Invalid API key or access token (unrecognized login or wrong password)"})
		return
	}
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest)).Decode(&req); err != nil || req.Query == nil {
		writeJSON(w, http.StatusBadRequest, map[string]map[string]string{"errors": {"query": "Required parameter missing or invalid"}})
		return
	}
	var ans answer
	var kind FaultKind
	executed := false
	err := s.update(func() error {
		var roll uint64
		i, ok := s.openedBy(token)
		if !ok { // since it was looked at
			return nil
		}
		kind, roll = s.requestFault(i.sh.Domain+i.owner, *req.Query+req.OperationName, string(req.Variables))
		if kind == Throttled {
			ans = s.throttled(i.bucket, mutationCost)
			return nil
		}
		executed = kind.executed(roll)
		if executed {
			ans = s.answer(i, req)
		}
		return nil
	})
	if err != nil {
		s.opts.Log.Error("the simulated platform has stopped", "error", err)
		http.Error(w, "the simulated platform has stopped", http.StatusInternalServerError)
		return
	}
	s.pulse.Add(1)
	switch kind {
	case TimeoutBefore, TimeoutAfter, ConnectionReset:
		HangUp(w, kind)
	case HTTP500:
		writeJSON(w, http.StatusInternalServerError, map[string]string{"errors": "Internal Server Error"})
	default:
		writeJSON(w, http.StatusOK, ans)
	}
}

// opensAPI reports whether a token opens the API now.
func (s *Simulator) opensAPI(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.openedBy(token)
	return ok
}

// answer checks, charges for and executes a request.
func (s *Simulator) answer(i installation, req request) answer {
	doc := s.document(*req.Query)
	if len(doc.refused) > 0 {
		return answer{Errors: doc.refused}
	}
	op := doc.operation(req.OperationName)
	if op == nil {
		return answer{Errors: []apiError{{Message: "An operation name is required", Extensions: &extensions{Code: codeBadRequest}}}}
	}
	sent, err := decodeVariables(req.Variables)
	if err != nil {
		return answer{Errors: []apiError{{Message: "Variables are invalid JSON", Extensions: &extensions{Code: codeBadRequest}}}}
	}
	vars, refused := s.variables(op, sent)
	if len(refused) > 0 {
		return answer{Errors: refused}
	}
	if doc.notDone != nil {
		return answer{Data: nullData, Errors: []apiError{*doc.notDone}}
	}
	cost, bad := s.requested(doc, op, vars)
	if bad != nil {
		return answer{Data: nullData, Errors: []apiError{*bad}}
	}
	if cost > maxQueryCost {
		return answer{Errors: []apiError{{
			Message:    "Query cost is " + strconv.Itoa(cost) + ", which exceeds the single query max cost limit (" + strconv.Itoa(maxQueryCost) + ").",
			Extensions: &extensions{Code: codeMaxCost, Cost: cost, MaxCost: maxQueryCost, Documentation: limitsPage},
		}}}
	}
	i.bucket.refill(s.opts.CostMaximum, s.opts.CostRestore, s.opts.ThrottleClock.Now())
	if i.bucket.level < float64(cost) {
		return s.throttled(i.bucket, cost)
	}
	x := exec{s: s, shop: i.sh, app: i.owner, at: i, doc: doc, op: op, vars: vars, out: make([]byte, 0, 1024)}
	data, actual := x.run()
	actual = min(actual, cost)
	i.bucket.level -= float64(actual)
	return answer{
		Data: data, Errors: x.errors,
		Extensions: &costExtension{costReport{Requested: cost, Actual: &actual, Status: s.throttle(i.bucket)}},
	}
}

func (s *Simulator) throttled(b *bucket, cost int) answer {
	return answer{
		Errors:     []apiError{{Message: "Throttled", Extensions: &extensions{Code: codeThrottled, Documentation: limitsPage}}},
		Extensions: &costExtension{costReport{Requested: cost, Status: s.throttle(b)}},
	}
}

// decodeVariables reads variables with their numbers as they were written.
func decodeVariables(raw json.RawMessage) (map[string]any, error) {
	vars := map[string]any{}
	if len(raw) == 0 {
		return vars, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&vars); err != nil {
		return nil, errors.Join(errors.New("read variables"), err)
	}
	return vars, nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Shopify-API-Version", schema.Version)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a reader that has gone away is no concern of ours
}
