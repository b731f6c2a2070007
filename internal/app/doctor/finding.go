package doctor

import "fmt"

// State is the result of a check.
type State string

// The results. Only Failed says that something does not work; NotChecked says that
// something else kept the check from being made, or that it was not asked for.
const (
	OK         State = "ok"
	Warning    State = "warning"
	Failed     State = "failed"
	NotChecked State = "not checked"
)

// Finding is what one check found.
type Finding struct {
	Check string `json:"check"`
	Shop  string `json:"shop,omitempty"` // domain of the store that was checked; empty: the installation
	State State  `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what an operator should do; empty: nothing
}

// AnyFailed reports whether a check failed.
func AnyFailed(findings []Finding) bool {
	for _, f := range findings {
		if f.State == Failed {
			return true
		}
	}
	return false
}

func (f Finding) of(check, domain string) Finding {
	f.Check, f.Shop = check, domain
	return f
}

func ok(format string, args ...any) Finding {
	return Finding{State: OK, Found: fmt.Sprintf(format, args...)}
}

func notChecked(format string, args ...any) Finding {
	return Finding{State: NotChecked, Found: fmt.Sprintf(format, args...)}
}

func warning(do, format string, args ...any) Finding {
	return Finding{State: Warning, Found: fmt.Sprintf(format, args...), Do: do}
}

func failed(do, format string, args ...any) Finding {
	return Finding{State: Failed, Found: fmt.Sprintf(format, args...), Do: do}
}
