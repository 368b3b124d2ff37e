// SPDX-License-Identifier: Apache-2.0
// A function that lists what a reader of the page cannot read or reach; pages_test.py evaluates it.
(() => {
  const problems = [];
  const smallest = 11;  // pixels of a letter's font
  const contrast = 4.5;  // of text and background, as WCAG 2 demands at level AA
  const width = document.documentElement.clientWidth;

  const name = (element) => {
    const text = (element.textContent || '').trim().slice(0, 30);
    return `${element.tagName.toLowerCase()}${element.id ? '#' + element.id : ''} "${text}"`;
  };
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
  const ancestors = function* (element) {
    for (let each = element; each; each = each.parentElement) yield each;
  };
  const visible = (element) => element.checkVisibility({opacityProperty: true, visibilityProperty: true});

  if (document.scrollingElement.scrollWidth > width)
    problems.push(`the page is ${document.scrollingElement.scrollWidth} pixels wide in a window of ${width}`);

  const colour = (text) => {
    const parts = text.match(/[\d.]+/g).map(Number);
    return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const over = (above, below) => above.rgb.map((part, k) => part * above.alpha + below[k] * (1 - above.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map(
        (part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // The colour behind an element; null: an image, whose colours are unknown.
  const background = (element) => {
    const layers = [];
    for (const each of ancestors(element)) {
      const style = getComputedStyle(each);
      if (style.backgroundImage !== 'none') return null;
      const layer = colour(style.backgroundColor);
      layers.push(layer);
      if (layer.alpha === 1) break;
    }
    const dark = matchMedia('(prefers-color-scheme: dark)').matches &&
        getComputedStyle(document.documentElement).colorScheme.includes('dark');
    return layers.reduceRight((below, layer) => over(layer, below), dark ? [18, 18, 18] : [255, 255, 255]);
  };
  const checkColours = (element) => {
    const behind = background(element);
    if (!behind) return;
    const style = getComputedStyle(element);
    const isDrawn = element instanceof SVGElement;
    const front = over(colour(isDrawn ? style.fill : style.color), behind);
    const [light, dark] = [luminance(front), luminance(behind)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < contrast) problems.push(`${name(element)} has a contrast of ${ratio.toFixed(2)}`);
  };
  const checkText = (element) => {
    let size = parseFloat(getComputedStyle(element).fontSize);
    if (element instanceof SVGGraphicsElement) {
      const matrix = element.getScreenCTM();
      size *= Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    }
    if (size < smallest - 0.01) problems.push(`${name(element)} has letters of ${size.toFixed(1)} pixels`);
    checkColours(element);
    const box = element.getBoundingClientRect();
    if (box.right > width + 1 && ![...ancestors(element)].some(scrolls))
      problems.push(`${name(element)} ends at ${Math.round(box.right)} of ${width} pixels`);
  };
  for (const element of document.body.querySelectorAll('*')) {
    if (!visible(element) || element.tagName === 'SCRIPT' || element.tagName === 'STYLE') continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (own && !['title', 'desc'].includes(element.tagName)) checkText(element);
  }
  return [...new Set(problems)];
})()
