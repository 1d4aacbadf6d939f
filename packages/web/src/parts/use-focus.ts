import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Moves the focus to a heading when its subject changes, so that screen readers read the new content. */
export function useFocus(subject: unknown): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [subject])
  return heading
}

/** Moves the focus into the content if the element that had it disappeared with the change of the subject. */
export function useFocusRescue(subject: unknown): void {
  const isFirst = useRef(true)
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (!isFirst.current && isLost) document.getElementById('main')?.focus()
    isFirst.current = false
  }, [subject])
}

/** Whether a media query matches, now and after changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const update = () => setMatches(list.matches)
    list.addEventListener('change', update)
    return () => list.removeEventListener('change', update)
  }, [query])
  return matches
}
