package embedded

// ApplicationsByEnvironment is the mode that ApplicationsVariable says: other kinds of
// clusters than the embedded one serve applications by it too.
func ApplicationsByEnvironment() (ApplicationsMode, error) {
	return ApplicationsMode("").orByEnvironment()
}
