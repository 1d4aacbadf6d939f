import { render } from 'preact'
import { App } from './app.tsx'

const root = document.getElementById('app')
if (!root) throw new Error('The page has no root element')
render(<App />, root)
