package web

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/perennialhq/perennial/internal/domain/access"
)

// Operation describes one operation of an audience.
type Operation struct {
	ID          string
	Method      string
	Path        string
	Summary     string
	Description string
	Tag         string
	Scope       access.Scope // a key needs it
	Body        any          // a value of the type of the JSON body; nil: none
	Public      bool         // also for shoppers who are not signed in
	Once        bool         // to do it again would add to what it did: a line more, another rule
	Secret      string       // field of the answer that is shown once: a repeated request is given null in its place
	Status      int          // of success; 0: 200
	Parameters  []*huma.Param
	List        *List // what its list allows to be asked for; nil: it answers no list
	Errors      []int // in addition to those that every operation can answer
}
