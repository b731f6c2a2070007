package moving

// Way is what an entry of a contract tells about its move.
type Way string

// What entries tell.
const (
	Leaving Way = "LEAVING" // it was stopped here, and goes to the other service
	Kept    Way = "KEPT"    // it could not be moved, and is charged here again
	Arrived Way = "ARRIVED" // it has come from the other service, and is charged here
)

// Note is the additional information of an entry about the move of a contract.
type Note struct {
	Way     Way    `json:"moved"`
	Service string `json:"service"`                   // address of the other one
	There   string `json:"otherContractId,omitempty"` // what named the contract there; empty: not known
	Reason  string `json:"reason"`
}
