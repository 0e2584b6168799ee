package roster

// SetScratchDB notes the URL of the database that was made for a workstream.
func (s *State) SetScratchDB(id, url string) error {
	w, err := s.Workstream(id)
	if err != nil || w.ScratchDB == url {
		return err
	}
	w.ScratchDB = url
	s.touch(w)
	s.Note(ScratchDBReady, id, w.TaskID, nil) // the URL has a password in it
	return nil
}

// ForgetScratchDBs notes that no workstream has a database any more.
func (s *State) ForgetScratchDBs() {
	for w := range rows(s.Workstreams) {
		if w.ScratchDB != "" {
			w.ScratchDB = ""
			s.touch(w)
			s.Note(ScratchDBRemoved, w.ID, w.TaskID, nil)
		}
	}
}
