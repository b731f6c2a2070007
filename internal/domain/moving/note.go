package moving

// Told is what an entry of a contract tells about its move.
type Told string

// What entries tell.
const (
	Leaving Told = "LEAVING" // it was stopped here, and goes to the other service
	Kept    Told = "KEPT"    // it could not be moved, and is charged here again
	Arrived Told = "ARRIVED" // it has come from the other service, and is charged here
)

// Note is the additional information of an entry about the move of a contract.
type Note struct {
	Told    Told   `json:"moved"`
	Service string `json:"service"`                   // address of the other one
	There   string `json:"otherContractId,omitempty"` // what named the contract there; empty: not known
	Reason  string `json:"reason"`
}
