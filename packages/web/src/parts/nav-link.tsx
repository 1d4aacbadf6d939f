import type { ComponentChildren } from 'preact'
import { go } from '../route.ts'

type Props = { href: string; isCurrent?: boolean; class?: string; children: ComponentChildren }

/** A link inside the page: a plain click changes the view, the browser handles any other click. */
export function NavLink({ href, isCurrent = false, children, ...rest }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(href)
  }
  return (
    <a {...rest} href={href} onClick={follow} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}
